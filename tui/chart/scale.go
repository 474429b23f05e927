package chart

import (
	"math"
	"strconv"
	"time"
)

// A Unit is how a chart's figures are written: shown = value * Factor.
type Unit struct {
	Label  string
	Factor float64
	From   float64 // the smallest shown value that is worth this Unit
	Most   float64 // the largest shown value there can be, 0 for no bound: an axis ends there
}

// Pick returns the largest Unit of the list (smallest first) that hi is worth.
func Pick(units []Unit, hi float64) Unit {
	u := units[0]
	for _, v := range units[1:] {
		if hi*v.Factor >= v.From {
			u = v
		}
	}
	return u
}

// ticksBelow is how far below the figures beside it a scale can be labelled in their unit.
const ticksBelow = 100

// worth leaves out the Units that are too small for the highest value of a chart or for
// the largest figure beside it, so that both are in one unit that suits them.
func worth(units []Unit, hi, beside float64) []Unit {
	if hi > 0 {
		beside = min(beside, ticksBelow*hi)
	}
	least := Pick(units, max(hi, beside))
	for units[0] != least {
		units = units[1:]
	}
	return units
}

// shrinkAfter is how long a narrower scale must fit before it is taken. A wider
// one is taken at once.
const shrinkAfter = 2 * time.Second

// A Scale is the y axis of a chart as it stands. It belongs to the caller, who
// passes it in again with the next frame. The zero Scale has never seen a value.
type Scale struct {
	Lo, Hi float64 // in Unit
	Tick   float64 // distance of the labels, 1, 2 or 5 times a power of ten
	Unit   Unit
	zero   bool
	tight  time.Time // since when a narrower one would do
}

// Fit returns the Scale for values between lo and hi (not in a Unit) at a time.
// It starts at zero when zero is asked for or the lowest value is below a third of
// the highest.
func (s Scale) Fit(lo, hi float64, zero bool, units []Unit, now time.Time) Scale {
	n := fresh(lo, hi, zero, units)
	outside := hi*s.Unit.Factor > s.Hi || lo*s.Unit.Factor < s.Lo
	if s.Unit.Factor == 0 || s.zero != zero || outside || !has(units, s.Unit) {
		return n
	}
	if n.Lo == s.Lo && n.Hi == s.Hi && n.Unit == s.Unit {
		return n
	}
	if s.tight.IsZero() || now.Before(s.tight) {
		s.tight = now
	}
	if now.Sub(s.tight) >= shrinkAfter {
		return n
	}
	return s
}

func has(units []Unit, u Unit) bool {
	for _, v := range units {
		if v == u {
			return true
		}
	}
	return false
}

func fresh(lo, hi float64, zero bool, units []Unit) Scale {
	hi = max(hi, 0)
	u := Pick(units, hi)
	lo, hi = lo*u.Factor, hi*u.Factor
	if u.Most > 0 { // two clocks that differ a little make a core busier than it can be
		lo, hi = min(lo, u.Most), min(hi, u.Most)
	}
	if zero || lo < hi/3 {
		lo = min(lo, 0)
	} else if spread := hi / 10; hi-lo < spread { // noise is not blown up to fill the chart
		mid := (lo + hi) / 2
		lo, hi = mid-spread/2, mid+spread/2
		if over := hi - u.Most; u.Most > 0 && over > 0 {
			lo, hi = lo-over, u.Most
		}
	}
	if hi <= lo {
		hi = lo + 1
	}
	s := Scale{Unit: u, zero: zero, Tick: niceTick(lo, hi)}
	s.Lo, s.Hi = math.Floor(lo/s.Tick)*s.Tick, math.Ceil(hi/s.Tick-1e-9)*s.Tick
	return s
}

// maxTicks is into how many steps of 1, 2 or 5 a scale is cut at most.
const maxTicks = 5

func niceTick(lo, hi float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10((hi-lo)/maxTicks)))
	for {
		for _, m := range []float64{1, 2, 5} {
			if t := m * p; math.Ceil(hi/t-1e-9)-math.Floor(lo/t) <= maxTicks {
				return t
			}
		}
		p *= 10
	}
}

// Known says whether the Scale has seen a value.
func (s Scale) Known() bool { return s.Unit.Factor != 0 }

// part is how high a value lies, 0 at the bottom and 1 at the top, above which there is
// nothing.
func (s Scale) part(v float64) float64 { return min((v*s.Unit.Factor-s.Lo)/(s.Hi-s.Lo), 1) }

// label writes a tick in five cells.
func (s Scale) label(v float64) string {
	decimals := 0
	if s.Tick < 1 {
		decimals = min(int(math.Ceil(-math.Log10(s.Tick)-1e-9)), 3)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
