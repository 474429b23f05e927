package siftr_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netwatch/parsers/siftr"
)

// cycleKeys and flowKeys are the keys that `netwatch review --json` promises.
var (
	cycleKeys = strings.Fields(`enable_time_secs enable_time_usecs disable_time_secs disable_time_usecs
		has_footer duration_s records ring_drops`)
	flowKeys = strings.Fields(`laddr lport faddr fport mss stack cc records_out records_in
		data_pkt_cnt data_bytes avg_payload min_payload max_payload out_data_pkt_cnt out_data_bytes out_avg_payload
		fragment_cnt avg_srtt_us min_srtt_us max_srtt_us avg_cwnd min_cwnd max_cwnd avg_inflight min_inflight
		max_inflight first_time_s last_time_s records_in_recovery`)
)

// TestGeneratedLogs holds the Report against the generator's own truth.
func TestGeneratedLogs(t *testing.T) {
	for _, name := range logNames(t, "generated") {
		t.Run(base(name), func(t *testing.T) {
			s, report := summarise(readLog(t, name))
			if strings.Contains(name, "2.3-dev") {
				if err := s.Err(); err == nil || !strings.Contains(err.Error(), "2.3 in development") {
					t.Fatalf("Err() = %v, want a refusal by name", err)
				}
				return
			}
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			truth, err := os.ReadFile(filepath.Join("testdata", "generated", base(name)+".json"))
			if err != nil {
				t.Fatal(err)
			}
			compareReports(t, asMap(t, report), decodeMap(t, truth))
		})
	}
}

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decodeMap(t, b)
}

func decodeMap(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func compareReports(t *testing.T, got, want map[string]any) {
	t.Helper()
	compareKeys(t, "log", got, want, []string{"siftrver", "binary"})
	if got["bad_lines"] != float64(0) {
		t.Errorf("bad_lines = %v, want 0", got["bad_lines"])
	}
	gc, wc := got["cycles"].([]any), want["cycles"].([]any)
	if len(gc) != len(wc) {
		t.Fatalf("%d cycles, want %d", len(gc), len(wc))
	}
	for i := range wc {
		g, w := gc[i].(map[string]any), wc[i].(map[string]any)
		compareKeys(t, fmt.Sprint("cycle ", i), g, w, cycleKeys)
		flows := make(map[string]map[string]any)
		for _, f := range g["flows"].([]any) {
			f := f.(map[string]any)
			flows[fmt.Sprint(f["laddr"], f["lport"], f["faddr"], f["fport"])] = f
		}
		if n := len(w["flows"].([]any)); len(flows) != n {
			t.Errorf("%d flows, want %d", len(flows), n)
		}
		for _, f := range w["flows"].([]any) {
			f := f.(map[string]any)
			name := fmt.Sprint(f["laddr"], f["lport"], f["faddr"], f["fport"])
			compareKeys(t, name, flows[name], f, flowKeys)
			if want["siftrver"] != "1.2.3" { // 1.2.3 logs have no id
				compareKeys(t, name, flows[name], f, []string{"flowid"})
			}
		}
	}
}

func compareKeys(t *testing.T, what string, got, want map[string]any, keys []string) {
	t.Helper()
	for _, k := range keys {
		g, w := got[k], want[k]
		gn, ok1 := g.(float64)
		wn, ok2 := w.(float64)
		if ok1 && ok2 && math.Abs(gn-wn) <= 1e-9*max(1, math.Abs(wn)) {
			continue
		}
		if g != w {
			t.Errorf("%s: %s = %v, want %v", what, k, g, w)
		}
	}
}

var _ siftr.Handler = (*siftr.Summary)(nil)
