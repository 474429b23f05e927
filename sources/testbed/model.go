package testbed

import "math"

// The addresses and sizes of the simulated connection.
const (
	Interface = "em4"
	target    = "r1"
	localIP   = "10.1.1.2"
	remoteIP  = "10.1.1.3"
	loadPort  = 5201
	mss       = 1448
)

// A pingShape is the least, mean and greatest RTT in milliseconds.
type pingShape struct{ min, avg, max float64 }

// draw maps a uniform u to an RTT: min + (max-min)*u^k, where k gives the mean.
func (p pingShape) draw(u float64) float64 {
	k := (p.max-p.min)/(p.avg-p.min) - 1
	return p.min + (p.max-p.min)*math.Pow(u, k)
}

// An aimRow is what the card and the path do at one value of enable_aim.
type aimRow struct {
	ping    pingShape
	goodput float64 // Mbit/s with stock siftr on (notes)
	segment float64 // mean payload of a data packet with siftr2 on, bytes (notes)
	cwnd    float64 // where cwnd settles, KiB (notes: 327 to 733)
	srtt    float64 // microseconds
	irqs    float64 // interrupts/s under load
	caps    caps
	busy    float64 // share of both cores under load
}

// caps are what the driver's moderation allows, in values that em(4)'s register can hold
// (1000000000/256/n). That of FreeBSD 15 follows the size of the packets, up to 20000/s
// with enable_aim=1 and 70000/s with 2.
type caps struct{ loaded, idle float64 }

// aimRows is indexed by enable_aim.
var aimRows = [3]aimRow{
	{pingShape{0.169, 0.237, 0.280}, 898, 4630, 327, 343, 7850, caps{8004, 8004}, 0.63},
	{pingShape{0.164, 0.205, 0.249}, 904, 4789, 489, 311, 9560, caps{9765, 20032}, 0.61},
	{pingShape{0.129, 0.155, 0.203}, 928, 4784, 733, 258, 19650, caps{20032, 71022}, 0.71},
}

const (
	goodputSiftr2 = 939.3 // Mbit/s at any enable_aim (notes)
	goodputBare   = 941.4 // no log at all: the line's own limit
	goodputNoTSO  = 872   // the sender's core is the limit then
	noTSOBusy     = 0.17  // what segmenting in software adds to the cores
)

// goodput is the settled rate in Mbit/s.
func (s *state) goodput() float64 {
	v := goodputBare
	switch s.log {
	case "siftr":
		v = aimRows[s.aim].goodput
	case "siftr2":
		v = goodputSiftr2
	}
	if !s.superPackets() {
		v = math.Min(v, goodputNoTSO)
	}
	return v
}

// superPackets says whether the running connection hands bursts to the card.
func (s *state) superPackets() bool { return s.conn.tso && s.tcpTSO }

// segmentCounts are how many full segments a burst holds, and how often.
var segmentCounts = []struct {
	n      int
	weight float64
}{{1, 0.10}, {2, 0.18}, {3, 0.24}, {4, 0.22}, {5, 0.12}, {7, 0.08}, {11, 0.06}}

// burst draws the payload of one data packet, with the mean of the notes: the
// table's mean is a little more, so a share of packets is cut to one segment.
func (s *state) burst() int {
	if !s.superPackets() {
		return mss
	}
	var mean, total float64
	for _, c := range segmentCounts {
		mean += float64(c.n) * c.weight
		total += c.weight
	}
	mean /= total
	want := aimRows[s.aim].segment / mss
	if s.rng.Float64() < (mean-want)/(mean-1) {
		return mss
	}
	u := s.rng.Float64() * total
	for _, c := range segmentCounts {
		if u -= c.weight; u < 0 {
			return c.n * mss
		}
	}
	return mss
}
