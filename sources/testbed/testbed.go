package testbed

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"netwatch/sources"
)

// step is the engine's pace: the tick of a kernel at hz=100.
const step = 10 * time.Millisecond

// lag is how far the engine may be behind and still makes up for it, step by step.
const lag = 2 * time.Second

// A Testbed is one simulated host. It is a Source: Run is its life, and the
// card's counters come from it; the streams are read by whoever parses them, and
// must be read, or the testbed waits.
type Testbed struct {
	mu    sync.Mutex
	s     state
	iperf iperfText
	ping  pingText
	logs  map[string]*kernelLog // "siftr", "siftr2"
	card  card
	out   outputs
	ends  map[string]*io.PipeReader
}

// outputs are the writing ends of the streams.
type outputs struct{ iperf, ping, siftr, siftr2 *io.PipeWriter }

// New returns a testbed whose noise follows from seed. It starts with
// enable_aim=1, TSO on and siftr2 switched on, as the testers found it.
func New(seed uint64) *Testbed {
	t := &Testbed{
		s:    state{rng: rand.New(rand.NewPCG(seed, 0x5e1f7b)), aim: 1, ifTSO: true, lro: true, tcpTSO: true, log: "siftr2"},
		ends: map[string]*io.PipeReader{},
		card: newCard(),
		logs: map[string]*kernelLog{"siftr": {}, "siftr2": {hex: true}},
	}
	for name, w := range map[string]**io.PipeWriter{"iperf": &t.out.iperf, "ping": &t.out.ping, "siftr": &t.out.siftr, "siftr2": &t.out.siftr2} {
		t.ends[name], *w = io.Pipe()
	}
	return t
}

// Iperf is what iperf3 prints, run after run.
func (t *Testbed) Iperf() io.Reader { return t.ends["iperf"] }

// Ping is what ping prints, five probes a second.
func (t *Testbed) Ping() io.Reader { return t.ends["ping"] }

// Siftr is the log of stock siftr, Siftr2 that of siftr2. Only one is written at
// a time, as the knob "log" says; several cycles follow one another.
func (t *Testbed) Siftr() io.Reader { return t.ends["siftr"] }

// Siftr2 is the log of siftr2, see Siftr.
func (t *Testbed) Siftr2() io.Reader { return t.ends["siftr2"] }

// Facts is what a header line says of the card.
const Facts = "em(4) 82546EB  1000baseT full-duplex  mtu 1500"

// Target is what the simulated ping pings.
func (t *Testbed) Target() string { return target }

// Name is the word on the status line.
func (t *Testbed) Name() string { return "nic" }

// Run lives until ctx ends.
func (t *Testbed) Run(ctx context.Context, sink sources.Sink) error {
	defer context.AfterFunc(ctx, t.close)()
	defer t.close()
	tick := time.NewTicker(step)
	defer tick.Stop()
	last := time.Now()
	if _, err := io.WriteString(t.out.ping, t.ping.head()); err != nil {
		return nil
	}
	t.mu.Lock()
	t.s.nextRun = last.Add(2 * time.Second)
	t.card.start(last, sink)
	t.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			// On a busy machine a tick comes late, and the time it brings may then be
			// after that of the next one.
			now := time.Now()
			if now.Sub(last) > lag {
				last = now.Add(-lag)
			}
			// All steps are alike: what they make of the seed does not depend on the machine.
			for now.Sub(last) >= step {
				last = last.Add(step)
				if t.live(last, step, sink).write(t.out) != nil {
					return nil
				}
			}
		}
	}
}

func (t *Testbed) close() {
	for _, w := range []*io.PipeWriter{t.out.iperf, t.out.ping, t.out.siftr, t.out.siftr2} {
		w.Close()
	}
}

// said is what the streams said in one step; it is written without the lock.
type said struct{ iperf, ping, siftr, siftr2 []byte }

func (s said) write(o outputs) error {
	for _, p := range []struct {
		w *io.PipeWriter
		b []byte
	}{{o.siftr2, s.siftr2}, {o.siftr, s.siftr}, {o.iperf, s.iperf}, {o.ping, s.ping}} {
		if len(p.b) == 0 {
			continue
		}
		if _, err := p.w.Write(p.b); err != nil {
			return err
		}
	}
	return nil
}

// live moves everything on by one step.
func (t *Testbed) live(now time.Time, dt time.Duration, sink sources.Sink) said {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out said
	s := &t.s
	if !s.up() && !now.Before(s.linkBack) {
		sink.Event(sources.Event{At: now, Span: now.Sub(s.linkDown), Kind: sources.LinkUp, Source: "nic", Subject: Interface})
		s.linkDown = time.Time{}
	} else if !s.up() && !t.card.saidDown {
		sink.Event(sources.Event{At: now, Kind: sources.LinkDown, Source: "nic", Subject: Interface})
	}
	t.card.saidDown = !s.up()
	t.schedule(now, &out)
	for name, l := range t.logs {
		l.follow(name == s.log, now, s, out.log(name))
	}
	if s.loaded() && s.up() {
		t.traffic(now, dt, &out)
	}
	if now.Sub(t.card.pinged) >= 200*time.Millisecond {
		t.card.pinged = now
		out.ping = append(out.ping, t.ping.probe(s)...)
	}
	t.card.poll(now, dt, s, sink)
	return out
}

func (s *said) log(name string) *[]byte {
	if name == "siftr" {
		return &s.siftr
	}
	return &s.siftr2
}

// schedule starts and ends runs and prints the rows that are due.
func (t *Testbed) schedule(now time.Time, out *said) {
	s := &t.s
	switch {
	case !s.loaded() && !now.Before(s.nextRun) && s.up():
		s.begin(now)
		out.iperf = append(out.iperf, t.iperf.start(s, now)...)
	case s.loaded() && now.Sub(t.iperf.begun) >= time.Duration(t.iperf.rows+1)*time.Second:
		out.iperf = append(out.iperf, t.iperf.row(s, now)...)
		if !now.Before(s.runUntil) {
			out.iperf = append(out.iperf, t.iperf.end(s, now)...)
			s.runUntil, s.nextRun = time.Time{}, now.Add(idleLength)
		}
	}
}

// traffic sends one step's worth of data packets, each with the acknowledgements
// it brings, and writes their records.
func (t *Testbed) traffic(now time.Time, dt time.Duration, out *said) {
	s := &t.s
	c := &s.conn
	c.debt += float64(s.advance(now, dt))
	log := t.logs[s.log]
	for c.debt > 0 {
		payload := s.burst()
		c.debt -= float64(payload)
		c.sent += float64(payload)
		t.iperf.sent += float64(payload)
		acks := t.card.data(payload, s)
		if log == nil {
			continue
		}
		buf := out.log(s.log)
		log.packet(buf, payload)
		for range acks {
			log.packet(buf, 0)
		}
	}
}

// Start begins a run now, if none is on: key i of the demo.
func (t *Testbed) Start() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.nextRun = time.Time{}
	return nil
}

// Stop ends the run that is on at its next row.
func (t *Testbed) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.loaded() {
		t.s.runUntil = time.Unix(0, 0)
	}
}

// Running says whether a run is on.
func (t *Testbed) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.s.loaded()
}
