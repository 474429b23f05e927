package panes

import (
	"strconv"
	"time"

	"netwatch/experiment"
	"netwatch/experiment/series"
	"netwatch/tui/theme"
)

// A loss is told when its grace time is over, so the newest seconds have none yet; an
// answer takes a little until it is here.
const (
	pingWindow = 12 * time.Second
	rateWindow = 4 * time.Second
	onTheWay   = time.Second
)

// pingLoses says whether probes of the last seconds went without an answer.
func (f *Frame) pingLoses(host string) bool {
	_, lost := f.probes(host, 0, pingWindow)
	return lost > 0
}

// pingWord is how many answers a second come; while probes are lost how many of how
// many, and while nothing comes back at all since when.
func (f *Frame) pingWord(host string) word {
	answered, lost := f.probes(host, 0, pingWindow)
	if lost == 0 {
		if f.Session.Find(experiment.PingRTT, host) == nil {
			return word{}
		}
		n, _ := f.probes(host, onTheWay, rateWindow)
		return word{rate(float64(n)/rateWindow.Seconds()) + "/s", theme.Dim}
	}
	replies := f.Session.Find(experiment.PingRTT, host)
	if replies == nil {
		all := strconv.Itoa(int(f.Session.Find(experiment.PingLost, host).Total.Sum + 0.5))
		return word{"no reply, lost " + all + " of " + all, theme.Warn}
	}
	if silent, stale := replies.Stale(f.Session.Now()); stale {
		return word{"no reply " + age(silent), theme.Warn}
	}
	return word{"lost " + strconv.Itoa(lost) + " of " + strconv.Itoa(answered+lost), theme.Warn}
}

// probes counts what became of those whose time is in a stretch of so long that ended so
// long ago.
func (f *Frame) probes(host string, ago, d time.Duration) (answered, lost int) {
	count := func(q *experiment.Quantity) (n float64) {
		if t := f.Session.Find(q, host); t != nil {
			bins := make([]series.Bin, d/time.Second)
			t.Ring.Window(bins, f.Session.Now().Add(-ago-d), time.Second)
			for _, b := range bins {
				if q == experiment.PingLost {
					n += b.Sum
				} else {
					n += float64(b.N)
				}
			}
		}
		return n
	}
	return int(count(experiment.PingRTT)), int(count(experiment.PingLost) + 0.5)
}
