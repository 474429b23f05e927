package panes

import (
	"math"
	"strconv"
	"time"

	"netwatch/sources"
	"netwatch/tui/chart"
)

// Throughput is decimal (SI), buffers are binary (IEC), as the field has it.
var (
	bitRates = []chart.Unit{
		{Label: "bit/s", Factor: 8}, {Label: "kbit/s", Factor: 8e-3, From: 1},
		{Label: "Mbit/s", Factor: 8e-6, From: 1}, {Label: "Gbit/s", Factor: 8e-9, From: 10},
	}
	byteRates = []chart.Unit{
		{Label: "B/s", Factor: 1}, {Label: "kB/s", Factor: 1e-3, From: 1},
		{Label: "MB/s", Factor: 1e-6, From: 1}, {Label: "GB/s", Factor: 1e-9, From: 10},
	}
	buffers    = []chart.Unit{{Label: "bytes", Factor: 1}, {Label: "KiB", Factor: 1. / 1024, From: 8}, {Label: "MiB", Factor: 1. / (1 << 20), From: 10}}
	lengths    = []chart.Unit{{Label: "bytes", Factor: 1}}
	perSecond  = []chart.Unit{{Label: "/s", Factor: 1}, {Label: "k/s", Factor: 1e-3, From: 10}, {Label: "M/s", Factor: 1e-6, From: 10}}
	counts     = []chart.Unit{{Label: "", Factor: 1}, {Label: "k", Factor: 1e-3, From: 10}, {Label: "M", Factor: 1e-6, From: 10}}
	durations  = []chart.Unit{{Label: "us", Factor: 1}, {Label: "ms", Factor: 1e-3, From: 10}, {Label: "s", Factor: 1e-6, From: 10}}
	pingTimes  = []chart.Unit{{Label: "ms", Factor: 1e-3}, {Label: "s", Factor: 1e-6, From: 100}}
	percentage = []chart.Unit{{Label: "%", Factor: 100, Most: 100}}
)

// units returns how a metric may be written, smallest first. A ping is in ms as
// ping says it, TCP's own times in us as TCP keeps them.
func units(m sources.Metric, bytes bool) []chart.Unit {
	switch m.Unit {
	case sources.Octets:
		if bytes {
			return byteRates
		}
		return bitRates
	case sources.Bytes:
		if m == sources.Segment || m == sources.RxSegment || m == sources.TxSize || m == sources.RxSize {
			return lengths
		}
		return buffers
	case sources.Microseconds:
		if m == sources.PingRTT {
			return pingTimes
		}
		return durations
	case sources.Share:
		return percentage
	}
	if m.Agg == sources.PerTime {
		return perSecond
	}
	return counts
}

// figure writes a value that is already in its unit: four digits, at most three
// of them behind the point, never wider than seven cells for what a unit admits.
func figure(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 999.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 99.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 9.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// short writes a value with its unit in three digits, for lines of words:
// "928 Mbit/s", "733 KiB".
func short(v float64, m sources.Metric, bytes bool) string {
	u := chart.Pick(units(m, bytes), math.Abs(v))
	x := v * u.Factor
	decimals := 0
	switch a := math.Abs(x); {
	case a == 0 || a >= 99.95:
	case a >= 9.995:
		decimals = 1
	case m == sources.PingRTT:
		decimals = 3
	default:
		decimals = 2
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if u.Label == "" {
		return s
	}
	return s + " " + u.Label
}

// percent writes a share as a signed change: "+2.7%". From ten thousand of them on it is
// the factor that tells, "x128", in no more room.
func percent(v float64) string {
	p := v * 100
	decimals := 1
	if math.Abs(p) >= 99.95 {
		decimals = 0
	}
	s := strconv.FormatFloat(p, 'f', decimals, 64)
	switch {
	case v >= 99_999: // nor is there room for its digits
		return "x" + strconv.FormatFloat(1+v, 'e', 0, 64)
	case p >= 9999.5:
		return "x" + strconv.FormatFloat(1+v, 'f', 0, 64)
	case s == "-0.0" || s == "0.0":
		s = "0.0"
	case p > 0:
		s = "+" + s
	}
	return s + "%"
}

// count writes a number of readings in at most five cells.
func count(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n/1_000_000, 10) + "M"
}

// age writes how long ago: "4.2s", "3m10s", "2h05m".
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m" + two(int(d/time.Second)%60) + "s"
	}
	return strconv.Itoa(int(d/time.Hour)) + "h" + two(int(d/time.Minute)%60) + "m"
}

// stopwatch writes how long a run lasts: "0:41", "1:02:03".
func stopwatch(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return strconv.Itoa(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return strconv.Itoa(s/60) + ":" + two(s%60)
}

// rate writes how often something comes, in three digits: "66.1k", "5".
func rate(v float64) string {
	suffix := ""
	if v >= 1000 {
		v, suffix = v/1000, "k"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + suffix
}

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// span writes a window of time: "30s", "5m", "1h".
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return strconv.Itoa(int(d/time.Second)) + "s"
}
