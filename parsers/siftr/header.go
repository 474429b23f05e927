package siftr

import (
	"bytes"
	"strconv"
	"strings"
)

// keyValues calls f for each key=value of a line of TAB separated pairs. A line
// whose tabs became blanks is read too; sysver is then the rest of the line.
func keyValues(b []byte, f func(key, value string)) {
	s := string(b)
	split := func(r rune) bool { return r == '\t' }
	if !strings.Contains(s, "\t") {
		split = func(r rune) bool { return r == ' ' }
	}
	for pair := range strings.FieldsFuncSeq(s, split) {
		if key, value, ok := strings.Cut(pair, "="); ok {
			f(strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
}

// clockOf is seconds and microseconds as one number of microseconds.
func clockOf(secs, usecs string) (int64, bool) {
	s, err := strconv.ParseInt(secs, 10, 64)
	u, err2 := strconv.ParseInt(usecs, 10, 64)
	ok := err == nil && err2 == nil && s >= 0 && s < 1<<40 && u >= 0 && u < 1e6
	return s*1e6 + u, ok
}

func parseHeader(b []byte) (h Header, ok bool) {
	var secs, usecs string
	keyValues(b, func(k, v string) {
		switch k {
		case "enable_time_secs":
			secs = v
		case "enable_time_usecs":
			usecs = v
		case "siftrver":
			h.Version = v
		case "sysname":
			h.hasName = true
		case "sysver":
			h.System = printable([]byte(v))
		case "ipmode":
			h.IPv6 = v == "6"
		case "rec_fmt":
			h.Binary = v == "binary"
		case "hz":
			h.HZ, _ = strconv.ParseInt(v, 10, 32)
		case "tcp_rtt_scale":
			h.RTTScale, _ = strconv.ParseInt(v, 10, 32)
		}
	})
	h.Time, ok = clockOf(secs, usecs)
	return h, ok
}

// parseFooter reads the counters and returns the flow list apart.
func parseFooter(b []byte) (f Footer, list string, ok bool) {
	f = Footer{InPackets: -1, OutPackets: -1, Skipped: -1, RingDrops: -1, FlowCount: -1, GeneratedIDs: -1}
	if k := bytes.Index(b, []byte("flow_list=")); k >= 0 {
		list = string(b[k+len("flow_list="):])
	} else if k := bytes.Index(b, []byte("flowid_list=")); k >= 0 {
		list = string(b[k+len("flowid_list="):])
	}
	var secs, usecs string
	keyValues(b[:len(b)-len(list)], func(k, v string) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return
		}
		switch k {
		case "disable_time_secs":
			secs = v
		case "disable_time_usecs":
			usecs = v
		case "num_inbound_tcp_pkts":
			f.InPackets = n
		case "num_outbound_tcp_pkts":
			f.OutPackets = n
		case "total_skipped_tcp_pkts":
			f.Skipped = n
		case "ring_drops":
			f.RingDrops = n
		case "global_flow_cnt":
			f.FlowCount = n
		case "gen_flowid_cnt":
			f.GeneratedIDs = n
		}
	})
	f.Time, ok = clockOf(secs, usecs)
	return f, list, ok
}

// ParseFooter reads a footer line, without its flow list, for a caller that only
// has the end of a log.
func ParseFooter(line []byte) (f Footer, ok bool) {
	if !bytes.HasPrefix(line, footerKey) {
		return f, false
	}
	f, _, ok = parseFooter(line)
	return f, ok
}
