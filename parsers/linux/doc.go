// Package linux decodes what a Linux kernel says about a network card, its
// interrupts, the cores and TCP: rtnetlink link messages, /proc/interrupts,
// /proc/stat and INET_DIAG with tcp_info. It takes bytes and gives records; it
// opens nothing, so every decoder is tested on any system.
//
// Netlink is in the byte order of the machine it came from; the decoders use
// that of the machine they run on.
package linux

import "errors"

// ErrFormat is wrapped by every error of this package: the bytes are not what
// the kernel's own headers promise.
var ErrFormat = errors.New("unexpected format")
