package testbed

import (
	"fmt"
	"time"
)

// An iperfText writes what `iperf3 -c r1 --forceflush` of FreeBSD prints.
type iperfText struct {
	begun      time.Time
	rows       int
	to         float64 // end of the newest row, seconds
	sent, retr float64 // since the last row
	allRetr    int
}

func (i *iperfText) start(s *state, now time.Time) string {
	*i = iperfText{begun: now}
	return fmt.Sprintf("Connecting to host %s, port %d\n[  5] local %s port %d connected to %s port %d\n"+
		"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n", target, loadPort, localIP, s.conn.port, remoteIP, loadPort)
}

// row is due each second.
func (i *iperfText) row(s *state, now time.Time) string {
	from, to := i.to, now.Sub(i.begun).Seconds()
	i.to = to
	i.rows++
	line := fmt.Sprintf("[  5] %6.2f-%-6.2f sec %sBytes  %sbits/sec  %3d   %sBytes       \n",
		from, to, threeDigits(i.sent, 1024), threeDigits(i.sent*8/(to-from), 1000), s.conn.retr, threeDigits(s.conn.cwnd, 1024))
	i.allRetr += s.conn.retr
	i.sent, s.conn.retr = 0, 0
	return line
}

func (i *iperfText) end(s *state, now time.Time) string {
	to := now.Sub(i.begun).Seconds()
	total := fmt.Sprintf("[  5] %6.2f-%-6.2f sec %sBytes  %sbits/sec", 0.0, to, threeDigits(s.conn.sent, 1024), threeDigits(s.conn.sent*8/to, 1000))
	return "- - - - - - - - - - - - - - - - - - - - - - - - -\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr\n" +
		fmt.Sprintf("%s  %3d             sender\n", total, i.allRetr) +
		total + "                  receiver\n\niperf Done.\n"
}

// threeDigits writes a number as iperf3 does: at least three digits, four places,
// then the prefix of the unit.
func threeDigits(v, base float64) string {
	prefix := 0
	for v >= base && prefix < 3 {
		v /= base
		prefix++
	}
	p := [...]string{" ", " K", " M", " G"}[prefix]
	switch {
	case v < 9.995:
		return fmt.Sprintf("%4.2f%s", v, p)
	case v < 99.95:
		return fmt.Sprintf("%4.1f%s", v, p)
	}
	return fmt.Sprintf("%4.0f%s", v, p)
}

// A pingText writes what FreeBSD's ping prints: nothing at all for a lost probe.
type pingText struct{ seq int }

func (p *pingText) head() string {
	return fmt.Sprintf("PING %s (%s): 56 data bytes\n", target, remoteIP)
}

func (p *pingText) probe(s *state) string {
	seq := p.seq & 0xffff
	p.seq++
	if !s.up() {
		return ""
	}
	ms := aimRows[s.aim].ping.draw(s.rng.Float64())
	return fmt.Sprintf("64 bytes from %s: icmp_seq=%d ttl=64 time=%.3f ms\n", remoteIP, seq, ms)
}
