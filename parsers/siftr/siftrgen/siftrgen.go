// Package siftrgen makes big siftr logs for tests and benchmarks: a plain model of
// some connections, written in the exact words of the kernel. The same Config
// gives the same bytes. It is no simulation of TCP: what matters is that the
// fields move, and have the lengths, as in a real log.
package siftrgen

import (
	"io"
	"math/rand/v2"
	"net/netip"

	"netwatch/parsers/siftr"
)

// A Format is one of the layouts that siftrgen writes.
type Format uint8

// The formats.
const (
	Text25   Format = iota // siftr2 2.5, text
	Binary25               // siftr2 2.5, binary
	Stock130               // siftr 1.3.0
)

// A Config says what log to make.
type Config struct {
	Format  Format
	Records int64 // or until Bytes are written, whichever comes first; 0 is no limit
	Bytes   int64
	Flows   int    // at least 1
	Seed    uint64 // another seed, another log
	Start   int64  // enable time, microseconds since 1970
	Rate    int64  // records a second; 0 is 60,000
	Cut     bool   // no footer, as while the module is on
}

const (
	mss   = 1448
	batch = 64 << 10
)

// A Generator makes the records of a log one by one.
type Generator struct {
	Enable int64 // the header's time, microseconds since 1970

	rng    *rand.Rand
	conns  []conn
	step   int64 // nanoseconds of log time a record
	nanos  int64 // since the enable
	record siftr.Record
}

// A conn is what moves from record to record in a connection.
type conn struct {
	flow     siftr.Flow
	cwnd     uint32
	ssthresh uint32
	srtt     uint32
	recovery int
}

// New returns a Generator for c.
func New(c Config) *Generator {
	if c.Rate <= 0 {
		c.Rate = 60_000
	}
	g := &Generator{Enable: c.Start, rng: rand.New(rand.NewPCG(c.Seed, 0)), step: 1e9 / c.Rate}
	for i := range max(1, c.Flows) {
		f := siftr.Flow{
			Index:  i,
			Local:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 1, 1}), uint16(54321+i)),
			Remote: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 1, byte(2 + i%250)}), 5201),
			MSS:    mss, HasID: true,
			Entry: siftr.FlowEntry{Stack: "freebsd", CC: "cubic", SACK: true, SndScale: 8, RcvScale: 8},
		}
		f.ID = siftr.FlowID(f.Local, f.Remote)
		g.conns = append(g.conns, conn{flow: f, cwnd: 10 * mss, ssthresh: siftr.SsthreshUnset, srtt: 320})
	}
	return g
}

// Next is the next record, valid until the call after it.
func (g *Generator) Next() *siftr.Record {
	g.nanos += g.step/2 + g.rng.Int64N(g.step)
	n := g.rng.IntN(len(g.conns) * 3)
	c := &g.conns[n%len(g.conns)]
	dir := siftr.Out
	if n >= 2*len(g.conns) {
		dir = siftr.In
	}
	c.move(g.rng, dir)
	c.flow.Counts[dir]++
	c.flow.Entry.Records++
	c.flow.Entry.Packets++
	r := &g.record
	*r = siftr.Record{
		Flow: &c.flow, Dir: dir, State: siftr.StateEstablished, Time: g.Enable + g.nanos/1000,
		SRTT: float64(c.srtt), RTO: 230000, Cwnd: c.cwnd, Ssthresh: c.ssthresh, MSS: mss,
		Flags: 0x10003e1, Flags2: 2, Wnd: siftr.Window{Snd: c.cwnd + 65160, Rcv: 65700},
		SndBuf: siftr.Buffer{Limit: c.cwnd + 33580, Used: c.cwnd/2 + g.rng.Uint32N(c.cwnd)/2}, RcvBuf: siftr.Buffer{Limit: 65700},
	}
	r.Inflight = min(c.cwnd, r.SndBuf.Used/mss*mss)
	if dir == siftr.Out {
		r.Payload = mss * (1 + g.rng.Uint32N(9))
		if g.rng.IntN(200) == 0 {
			r.Payload = 37
		}
	}
	if c.recovery > 0 {
		r.Flags |= siftr.FlagRecovery
	}
	return r
}

// move opens the window with each acknowledgement and halves it now and then.
func (c *conn) move(rng *rand.Rand, dir siftr.Dir) {
	if c.recovery > 0 {
		c.recovery--
	}
	switch {
	case dir == siftr.Out:
	case c.cwnd > 733<<10 || rng.IntN(4000) == 0:
		c.cwnd = max(2*mss, c.cwnd*7/10)
		c.ssthresh = c.cwnd
		c.recovery = 50
	case c.cwnd < c.ssthresh && c.cwnd < 400<<10:
		c.cwnd += mss
	default:
		c.cwnd += mss * mss / c.cwnd * 8
	}
	if dir == siftr.In {
		c.srtt = 218 + c.cwnd/2000*31 + rng.Uint32N(4)*31
	}
}

// Cycle is what a header and a footer written now would say.
func (g *Generator) Cycle() *siftr.Cycle {
	c := &siftr.Cycle{Header: siftr.Header{Time: g.Enable, System: "1500068"}}
	c.Footer = siftr.Footer{Time: g.Enable + g.nanos/1000 + 250_000}
	for i := range g.conns {
		f := &g.conns[i].flow
		c.Footer.InPackets += f.Counts[siftr.In]
		c.Footer.OutPackets += f.Counts[siftr.Out]
		c.Flows = append(c.Flows, f)
	}
	return c
}

// Write writes the log that c describes to w.
func Write(w io.Writer, c Config) error {
	if c.Records == 0 && c.Bytes == 0 {
		c.Records = 1000
	}
	g := New(c)
	cycle := g.Cycle()
	cycle.Header.Binary = c.Format == Binary25
	buf := make([]byte, 0, batch+256)
	if c.Format == Stock130 {
		buf = siftr.AppendHeader130(buf, &cycle.Header)
	} else {
		cycle.Header.System = "FreeBSD 15.0-RELEASE GENERIC"
		buf = siftr.AppendHeader25(buf, &cycle.Header)
	}
	written := int64(0)
	for n := int64(0); (c.Records == 0 || n < c.Records) && (c.Bytes == 0 || written+int64(len(buf)) < c.Bytes); n++ {
		if len(buf) >= batch {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			written += int64(len(buf))
			buf = buf[:0]
		}
		buf = appendRecord(buf, c.Format, g.Next(), g.Enable)
	}
	if !c.Cut {
		buf = appendFooter(buf, c.Format, g.Cycle())
	}
	_, err := w.Write(buf)
	return err
}

func appendRecord(dst []byte, f Format, r *siftr.Record, enable int64) []byte {
	switch f {
	case Binary25:
		return siftr.AppendBinary25(dst, r, enable)
	case Stock130:
		return siftr.AppendRecord130(dst, r)
	}
	return siftr.AppendRecord25(dst, r, enable)
}

func appendFooter(dst []byte, f Format, c *siftr.Cycle) []byte {
	if f == Stock130 {
		return siftr.AppendFooter130(dst, c)
	}
	c.Binary = f == Binary25
	return siftr.AppendFooter25(dst, c)
}
