// Package ping reads what ping programs print: iputils (Linux), FreeBSD's ping
// for IPv4 and IPv6, macOS, busybox and fping.
//
// A Parser takes the output in chunks cut anywhere and gives records: replies,
// probes without an answer, ICMP errors, the closing counts. It has no clock:
// when a reply came is known to the caller, or is in Reply.Stamp (ping -D of
// iputils, fping -D). A probe without an answer yet is not a lost one; FreeBSD
// says nothing at all about those. When to call a probe lost is the caller's
// decision (package sources/ping).
//
// Sources: iputils ping/ping_common.c (20221126), FreeBSD 14 sbin/ping/ping.c and
// ping6.c, Apple's ping, busybox networking/ping.c, fping 5.1.
package ping
