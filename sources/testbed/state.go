package testbed

import (
	"math"
	"math/rand/v2"
	"time"
)

// The schedule of the load and of a link reset.
const (
	runLength  = 20 * time.Second
	idleLength = 8 * time.Second
	ioctlTime  = 1200 * time.Millisecond // how long SIOCSIFCAP blocks
	resetTime  = 3 * time.Second         // from the turn to the link
)

// state is the one truth that all the streams tell of. The engine owns it; the
// knobs change it under the engine's lock.
type state struct {
	rng      *rand.Rand
	aim      int
	ifTSO    bool      // interface TSO
	lro      bool      // interface LRO
	tcpTSO   bool      // net.inet.tcp.tso
	log      string    // "off", "siftr", "siftr2"
	linkDown time.Time // when it went down; zero = up
	linkBack time.Time // when it comes back
	conn     conn
	runs     int
	runUntil time.Time // zero = idle
	nextRun  time.Time
	drift    float64 // slow noise of the rate, a share
}

// conn is the load's connection.
type conn struct {
	port     int
	began    time.Time
	tso      bool    // TF_TSO: set when the connection begins, cleared by an interface turn
	cwnd     float64 // bytes
	srtt     float64 // microseconds
	debt     float64 // bytes the rate owes
	sent     float64 // bytes in all
	retr     int
	inflight int
}

func (s *state) loaded() bool { return !s.runUntil.IsZero() }
func (s *state) up() bool     { return s.linkDown.IsZero() }

// advance moves the connection on by dt and returns the payload it hands over.
func (s *state) advance(now time.Time, dt time.Duration) int {
	c := &s.conn
	row := aimRows[s.aim]
	sec := dt.Seconds()
	s.drift += -s.drift*sec/3 + s.rng.NormFloat64()*0.0014*math.Sqrt(sec)
	settle := 1 - math.Exp(-sec/1.4)
	if age := now.Sub(c.began).Seconds(); age < 0.3 { // slow start
		settle = 1 - math.Exp(-sec/0.15)
	}
	c.cwnd += (row.cwnd*1024 - c.cwnd) * settle
	c.srtt += (row.srtt*(1+s.rng.NormFloat64()*0.10) - c.srtt) * (1 - math.Exp(-sec/0.12))
	rate := s.goodput() * 1e6 / 8 * (1 + s.drift)
	if line := goodputBare * 1e6 / 8; rate > line {
		rate = line
	}
	rate = math.Min(rate, c.cwnd/(c.srtt*1e-6))
	c.inflight = int(math.Min(c.cwnd, rate*c.srtt*1e-6*(1.2+0.3*s.rng.Float64())))
	return int(rate * sec)
}

// ticked is sRTT as the kernel keeps it at hz=1000: in steps of 31.25 us, cut.
func ticked(us float64) float64 { return math.Floor(math.Floor(us/31.25) * 31.25) }

// begin starts a run: a new connection from a new port.
func (s *state) begin(now time.Time) {
	s.runs++
	s.runUntil = now.Add(runLength)
	s.conn = conn{port: 49152 + s.rng.IntN(16000), began: now, tso: s.ifTSO, cwnd: 10 * mss, srtt: aimRows[s.aim].srtt}
}

// reset is what any capability turn does to an iflib interface: the link goes
// for seconds, and with it what was queued. A connection that lives keeps TSO
// only if the interface still has it.
func (s *state) reset(now time.Time) {
	s.linkDown, s.linkBack = now, now.Add(resetTime)
	if s.loaded() {
		s.conn.cwnd = mss
		s.conn.retr += 20 + s.rng.IntN(15)
		s.conn.tso = s.conn.tso && s.ifTSO
	}
}
