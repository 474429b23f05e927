// Package ethtool asks the driver of a Linux interface by ioctl, in the structures of
// linux/ethtool.h: no tool is started. It hands bytes and names to and fro; who asks
// knows what they mean. On other systems the package is empty.
package ethtool
