package iperf

// A tally has the means of interval rows: of streams, and of the tool's own sums.
type tally struct{ streams, sums map[string]*mean }

func newTally() tally { return tally{map[string]*mean{}, map[string]*mean{}} }

// mean is a mean weighted by time, and one in which every row counts alike.
type mean struct {
	bits, secs float64
	sum, n     float64
	plain      bool // CSV
}

// add weighs a row by the time its rate was made with. The interval of a CSV row
// is printed with one decimal, so the time comes from bytes and rate.
func (m *mean) add(r Row) {
	dt := r.End - r.Start
	if r.Exact && r.Tool == Iperf2 {
		m.plain = true
		if r.Bits > 0 && r.Bytes > 0 {
			dt = r.Bytes * 8 / r.Bits
		}
	}
	m.bits += r.Bits * dt
	m.secs += dt
	m.sum += r.Bits
	m.n++
}

func (t tally) add(r Row) {
	key, into := r.ID, t.streams
	if r.IsSum() {
		key, into = "SUM", t.sums
	}
	if r.Role != "" {
		key = r.Role
	}
	if into[key] == nil {
		into[key] = &mean{}
	}
	into[key].add(r)
}

// bps are the means per id, of the sum where there is one, or per role: as the
// contract of a Review wants them, and all weighted by time.
func (t tally) bps() (byContract, weighted map[string]float64) {
	byContract, weighted = map[string]float64{}, map[string]float64{}
	streams := t.streams
	if t.sums["SUM"] != nil {
		streams = nil
	}
	for _, means := range []map[string]*mean{streams, t.sums} {
		for key, m := range means {
			weighted[key] = m.bits / m.secs
			byContract[key] = weighted[key]
			if m.plain {
				byContract[key] = m.sum / m.n
			}
		}
	}
	return byContract, weighted
}
