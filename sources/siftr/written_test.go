package siftr_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netwatch/sources"
	"netwatch/sources/siftr"
)

// watching runs Sources with a step each 2.5 seconds: the kernel is asked each second.
func watching(t *testing.T, all []*siftr.Source, steps ...func()) *sink {
	t.Helper()
	s := new(sink)
	out := new(guarded)
	out.sink = s
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		for _, src := range all {
			go func() { done <- src.Run(ctx, out) }()
		}
		time.Sleep(30 * time.Millisecond)
		for _, step := range steps {
			step()
			time.Sleep(2500 * time.Millisecond)
		}
		cancel()
		for range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func (s *sink) sampled() (out []string) {
	for _, e := range s.events {
		if e.Kind == sources.LogSampled {
			out = append(out, e.Text+after(" for ", e.Span))
		}
	}
	return out
}

func after(sep string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return sep + d.String()
}

// TestSampled: the throughput of a log that lacks packets is no goodput, and it is
// said why, also when that begins and ends while the log grows.
func TestSampled(t *testing.T) {
	set := func(k *kernel, name, value string) func() { return func() { k.put("siftr2."+name, []byte(value)) } }
	tests := []struct {
		name        string
		steps       func(k *kernel, log func(int) func()) []func()
		good, thin  float64 // octets
		said, notes []string
	}{
		{"whole", func(k *kernel, log func(int) func()) []func() { return []func(){log(2)} }, 2, 0, nil, nil},
		{"only a port", func(k *kernel, log func(int) func()) []func() {
			set(k, "port_filter", "\x51\x14")()
			return []func(){log(2)}
		}, 2, 0, nil, []string{"siftr2.log: only flows with port 5201 are logged (port_filter)"}},
		{"ppl from the start", func(k *kernel, log func(int) func()) []func() {
			set(k, "ppl", "\x0a\x00\x00\x00")()
			return []func(){log(2)}
		}, 0, 2, []string{"ppl=10"}, nil},
		{"cwnd_filter for a while", func(k *kernel, log func(int) func()) []func() {
			return []func(){log(1), set(k, "cwnd_filter", "\x01"), log(2), set(k, "cwnd_filter", "\x00"), log(4)}
		}, 5, 2, []string{"cwnd_filter for 1s", "cwnd_filter", ""}, nil},
		{"flowid_filter warns", func(k *kernel, log func(int) func()) []func() {
			set(k, "flowid_filter", "dd7fc950\x00")()
			return []func(){log(1)}
		}, 0, 1, []string{"flowid_filter=dd7fc950"}, []string{"siftr2.log: flowid_filter logs nothing when the card gives no hash: it compares the packet's own id"}},
		{"off: it is no matter", func(k *kernel, log func(int) func()) []func() {
			set(k, "ppl", "\x0a\x00\x00\x00")()
			set(k, "enabled", defaults)()
			return []func(){log(2)}
		}, 2, 0, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			k := newKernel(dir, "siftr2")
			k.put("siftr2.enabled", []byte{1, 0, 0, 0})
			path := filepath.Join(dir, "siftr2.log")
			appendTo(t, path, header(0))
			ms := 1000
			log := func(n int) func() {
				return func() {
					time.Sleep(1500 * time.Millisecond) // the kernel is asked first
					for range n {
						ms += 100
						appendTo(t, path, record("o", ms))
					}
				}
			}
			s := watching(t, siftr.Logs(k, path), tt.steps(k, log)...)
			if got := s.total("dd7fc950", sources.Goodput).Sum; got != 1448*tt.good {
				t.Errorf("goodput %v octets, want %v", got, 1448*tt.good)
			}
			if got := s.total("dd7fc950", sources.Sampled).Sum; got != 1448*tt.thin {
				t.Errorf("sampled %v octets, want %v", got, 1448*tt.thin)
			}
			if got := s.sampled(); !slices.Equal(got, tt.said) {
				t.Errorf("said %q, want %q", got, tt.said)
			}
			if notes := s.texts(sources.SourceNote); !slices.Equal(notes, tt.notes) {
				t.Errorf("notes %q, want %q", notes, tt.notes)
			}
		})
	}
}

// TestSampledByTheFooter: what only the footer tells makes its stretch sampled.
func TestSampledByTheFooter(t *testing.T) {
	log := header(0) + record("o", 100) + footer(2, 1)
	s := new(sink)
	siftr.FromReader("log", strings.NewReader(log)).Run(t.Context(), s)
	if got := s.sampled(); !slices.Equal(got, []string{"3 records were lost in the kernel's ring for 2s"}) {
		t.Errorf("%q", got)
	}
	s = new(sink)
	log = strings.Replace(log, "ring_drops=3", "ring_drops=0", 1)
	siftr.FromReader("log", strings.NewReader(strings.Replace(log, ",1,1;", ",1,10;", 1))).Run(t.Context(), s)
	if got := s.sampled(); !slices.Equal(got, []string{"1 of 10 packets are in the log for 2s"}) {
		t.Errorf("%q", got)
	}
}

// TestModuleLog follows the module from file to file: stock siftr goes over at once,
// siftr2 at the next enable, and a module that is loaded later is found.
func TestModuleLog(t *testing.T) {
	dir := t.TempDir()
	k := newKernel(dir, "siftr2")
	k.put("siftr2.enabled", []byte{1, 0, 0, 0})
	appendTo(t, filepath.Join(dir, "siftr2.log"), header(0)+record("o", 100))
	next := filepath.Join(dir, "next.log")
	s := watching(t, siftr.Modules(k),
		func() { k.put("siftr2.logfile", []byte(next+"\x00")) },
		func() { k.write(t, "siftr2", record("o", 3000)+footer(5, 2)) }, // still into the old one
		func() {
			appendTo(t, next, header(6)+record("o", 100))
			k.put("siftr2.enabled", []byte(defaults))
			k.put("siftr2.enabled", []byte{1, 0, 0, 0})
		},
		func() { appendTo(t, next, record("o", 2000)) },
	)
	if got := s.total("dd7fc950", sources.Records).Sum; got != 4 {
		t.Errorf("%v records, want 2 of each file", got)
	}
	if up := s.texts(sources.SourceUp); !slices.Equal(up, []string{"siftr2.log: siftr2 2.5", "next.log: siftr2 2.5"}) {
		t.Errorf("%q", up)
	}
}

func TestModuleLoadedLater(t *testing.T) {
	dir := t.TempDir()
	k := newKernel(dir)
	s := watching(t, siftr.Modules(k), func() {}, func() {
		appendTo(t, filepath.Join(dir, "siftr2.log"), header(0)+record("o", 100))
		for name, v := range newKernel(dir, "siftr2").vars {
			k.put(strings.TrimPrefix(name, "net.inet."), v)
		}
	}, func() {})
	if got := s.total("dd7fc950", sources.Records).Sum; got != 1 {
		t.Errorf("%v records, want 1; events %q", got, s.texts(sources.SourceNote))
	}
}

// TestRefusedName: stock siftr is on, its logfile reads back a name it refused.
func TestRefusedName(t *testing.T) {
	k := newKernel("/none", "siftr")
	k.put("siftr.enabled", []byte{1, 0, 0, 0})
	s := watching(t, siftr.Modules(k), func() {})
	notes := s.texts(sources.SourceNote)
	if len(notes) != 1 || !strings.Contains(notes[0], "siftr is on and its logfile reads /none/siftr.log, but nothing is there: a refused name reads back too") {
		t.Errorf("%q", notes)
	}
}

func TestSharedIDs(t *testing.T) {
	dir := t.TempDir()
	k := newKernel(dir, "siftr2")
	k.vars["net.route.hash_outbound"] = []byte{1, 0, 0, 0}
	appendTo(t, filepath.Join(dir, "siftr2.log"), header(0)+record("o", 100))
	s := watching(t, siftr.Modules(k), func() {}, func() {})
	if notes := s.texts(sources.SourceNote); len(notes) != 1 || !strings.Contains(notes[0], "share an id") {
		t.Errorf("%q", notes)
	}
}

// TestSeveralLogs: the same id in two logs of one module is two subjects, whose
// labels are base names where these differ; siftr and siftr2 keep plain ids.
func TestSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	stock := string(readLog(t, "stock-1.3.0-ipv4-3flows-loss"))
	logs := map[string]string{"a/x.log": header(0) + record("o", 100), "b/x.log": header(0) + record("o", 100) + record("o", 200), "siftr.log": stock}
	var paths []string
	for _, name := range []string{"a/x.log", "b/x.log", "siftr.log"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, logs[name])
		paths = append(paths, path)
	}
	s := watching(t, siftr.Logs(nil, paths...), func() {})
	ids := map[string]float64{}
	for _, v := range s.samples {
		if v.Series.Metric == sources.Records && v.Series.Source == "siftr2" {
			ids[v.Series.Subject] += v.Sum
		}
	}
	plain := ids["dd7fc950"]
	other := ids["dd7fc950@"+paths[0]] + ids["dd7fc950@"+paths[1]]
	if len(ids) != 2 || plain+other != 3 || plain != 1 && plain != 2 {
		t.Errorf("records by subject %v, want 1 and 2", ids)
	}
}

// TestLabels: words name a log by its base name, but give the path where a person
// needs it.
func TestLabels(t *testing.T) {
	s := follow(t, header(-60)+record("o", 100)+footer(-30, 1), func(string) {})
	notes := s.texts(sources.SourceNote)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "x.log: finished at ") || !strings.Contains(notes[0], "use netwatch review /") {
		t.Errorf("%q", notes)
	}
	s = watching(t, siftr.Logs(nil, t.TempDir()), func() {})
	if notes := s.texts(sources.SourceNote); len(notes) != 1 || !strings.HasPrefix(notes[0], "cannot read /") {
		t.Errorf("%q", notes)
	}
}

// TestFlowKnows: what the session must know of a connection beyond its figures.
func TestFlowKnows(t *testing.T) {
	const tso, none = "10003e1", "3e1"
	s := new(sink)
	log := header(0) + record("o", 100) + strings.Replace(record("o", 200), tso, none, 1)
	log = strings.Replace(log, tso, "10003e1", 1)
	siftr.FromReader("log", strings.NewReader(log)).Run(t.Context(), s)
	var seen []string
	for _, e := range s.events {
		if e.Kind == sources.FlowSeen && e.Flow.Local.Port() == 0 {
			seen = append(seen, e.Flow.TSO)
		}
	}
	if !slices.Equal(seen, []string{"on", "off"}) {
		t.Errorf("TSO of the connection %q", seen)
	}
	s = new(sink)
	siftr.FromReader("log", strings.NewReader(string(readLog(t, "stock-1.3.0-ipv4-3flows-loss")))).Run(t.Context(), s)
	for _, e := range s.events {
		if e.Kind == sources.FlowSeen && !e.Flow.NoPayload {
			t.Errorf("%s: a stock log is said to carry payload", e.Flow.ID)
		}
	}
}

// TestBacklogIsPaced: an hour of a quiet log is read at once, its 40,000 samples go
// out in bursts that a taker can follow, and the lag is told while it lasts.
func TestBacklogIsPaced(t *testing.T) {
	var b strings.Builder
	b.WriteString(header(-4000))
	for ms := range 4000 {
		b.WriteString(record("o", ms*1000))
	}
	path := filepath.Join(t.TempDir(), "x.log")
	appendTo(t, path, b.String())
	g := &guarded{sink: new(sink), perTick: map[int64]int{}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := siftr.New(path).Run(ctx, g); err != nil {
			t.Error(err)
		}
	})
	if got := g.total("dd7fc950", sources.Records).Sum; got != 4000 {
		t.Errorf("%v records, want 4000", got)
	}
	for tick, n := range g.perTick {
		if n > 8000 { // two bursts
			t.Errorf("%d samples in tick %d", n, tick)
		}
	}
	lag := g.total("x.log", sources.Lag)
	// The first read of 256 KiB has 71 % of the records: 1150 s are left.
	if lag.N < 2 || lag.Max < 1.1e9 || lag.Max > 1.2e9 || lag.Last != 0 {
		t.Errorf("lag %+v, want 1150 s at first and 0 at the end", lag)
	}
}

// A guarded sink takes from several Sources and counts the samples a tick.
type guarded struct {
	*sink
	mu      sync.Mutex
	perTick map[int64]int
}

func (g *guarded) Sample(v sources.Sample) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sink.Sample(v)
	if g.perTick != nil {
		g.perTick[time.Now().UnixMilli()/100]++
	}
}

func (g *guarded) Event(e sources.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sink.Event(e)
}

// TestRunWithALogOfItsOwn: a Logger gives a run its log, the source goes there and
// stays silent about the module's own file afterwards.
func TestRunWithALogOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	k := newKernel(dir, "siftr2")
	g := &guarded{sink: new(sink)}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		logger := siftr.NewLogger(k, k, func(string) (uint64, error) { return 100 * gigabyte, nil }, 5201)
		go func() { done <- logger.Run(ctx, g) }()
		go func() { done <- siftr.Modules(k)[0].Run(ctx, g) }()
		logger.Arm(false)
		time.Sleep(100 * time.Millisecond) // what both look at each second does not change at that very moment
		for run := range 2 {
			time.Sleep(3 * time.Second)
			logger.Load(true)
			time.Sleep(time.Second)
			k.write(t, "siftr2", header(6*run)+record("o", 100))
			time.Sleep(time.Second)
			k.write(t, "siftr2", record("o", 1100))
			k.write(t, "siftr2", footer(6*run+2, 2))
			logger.Load(false)
			time.Sleep(time.Second)
			logger.Arm(false)
		}
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	if got := g.total("dd7fc950", sources.Records).Sum; got != 4 {
		t.Errorf("%v records, want 2 of each run", got)
	}
	var words []string
	for _, n := range g.texts(sources.SourceNote) {
		if !strings.HasPrefix(n, "logs to ") && !strings.HasPrefix(n, "logged to ") && !strings.Contains(n, "port_filter") {
			words = append(words, n)
		}
	}
	if len(words) != 4 || !strings.Contains(words[0], "ended, 2 records") || !strings.Contains(words[2], "ended, 2 records") {
		t.Errorf("%q, want the end of each log and its ring drops", words)
	}
}
