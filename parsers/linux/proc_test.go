package linux

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is an IRQ in words.
type row struct {
	Number   string
	Count    uint32
	Handlers []string
}

func rows(t *testing.T, text []byte) (list []row, bad []error) {
	t.Helper()
	for q, err := range Interrupts(text) {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		r := row{Number: string(q.Number), Count: q.Count}
		for h := range q.Handlers() {
			r.Handlers = append(r.Handlers, string(h))
		}
		list = append(list, r)
	}
	return list, bad
}

func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		file string
		want []row // some of the lines
	}{
		// A virtual machine's own file.
		{"interrupts-virtio.txt", []row{
			{"24", 1, []string{"ACPI:Ged"}},
			{"37", 0, []string{"virtio2-config"}},
			{"ERR", 0, nil},
		}},
		// Written in the layout of x86 servers: names of igb, i40e, mlx5; a shared line; a
		// line without a handler; a sum past 32 bits (4294967290+5+1 = 2^32).
		{"interrupts-igb.txt", []row{
			{"16", 12, []string{"ehci_hcd:usb1", "eth2"}},
			{"126", 7, []string{"eth0"}},
			{"127", 0, []string{"eth0-TxRx-0"}},
			{"128", 1000, []string{"eth0-TxRx-1"}},
			{"129", 4, []string{"i40e-ens1f0-TxRx-0"}},
			{"130", 2, []string{"mlx5_comp0@pci:0000:03:00.0"}},
			{"131", 3, []string{"ens5 mgmnt"}},
			{"132", 4, nil},
			{"LOC", 10000, nil},
		}},
		{"interrupts-arm64.txt", []row{
			{"11", 6283, []string{"arch_timer"}},
			{"14", 12, []string{"eth0"}},
			{"15", 9001, []string{"enp1s0-rx-0"}},
			{"IPI0", 300, nil},
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			list, bad := rows(t, load(t, c.file))
			if len(bad) > 0 {
				t.Error(bad)
			}
			got := map[string]row{}
			for _, r := range list {
				got[r.Number] = r
			}
			for _, want := range c.want {
				r := got[want.Number]
				if want.Number == "LOC" || want.Number == "IPI0" || want.Number == "ERR" {
					r.Handlers = nil // prose, not names
				}
				if d := cmp.Diff(want, r); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestInterruptsBad(t *testing.T) {
	for _, c := range []struct {
		name, text string
		good       int
		errs       []string
	}{
		{"no heading", "hello\n 1: 2 x\n", 0, []string{"line 1"}},
		{"empty", "", 0, []string{"line 1"}},
		{"bad line between good ones", "  CPU0\n 1: 5 a-edge  x\nrubbish\n 2: 6 b-edge  y\n", 2, []string{"line 3"}},
		{"no count", "  CPU0\n 1: eth0\n", 0, []string{"line 2"}},
		{"count past 64 bits", "  CPU0\n 1: 99999999999999999999999 x\n", 0, []string{"line 2"}},
		{"blank line", "  CPU0\n\n 1: 5 x\n", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, bad := rows(t, []byte(c.text))
			if len(list) != c.good || len(bad) != len(c.errs) {
				t.Fatalf("%d good, errors %v", len(list), bad)
			}
			for i, err := range bad {
				if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.errs[i]) {
					t.Errorf("%v does not say %q", err, c.errs[i])
				}
			}
		})
	}
}

func TestAppendCPUTimes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []CPUTime
		err        string
	}{
		{name: "seven of ten columns", text: "cpu  1 2 3\ncpu0 10 1 20 1000 5 2 3 4 6 7\ncpu1 1 0 0 9\nintr 5 6\n",
			want: []CPUTime{{CPU: 0, Busy: 10 + 1 + 20 + 2 + 3, Idle: 1000 + 5, Steal: 4}, {CPU: 1, Busy: 1, Idle: 9}}},
		{name: "an offline core between", text: "cpu 0 0 0 0\ncpu0 1 0 0 1\ncpu3 2 0 0 2\n",
			want: []CPUTime{{CPU: 0, Busy: 1, Idle: 1}, {CPU: 3, Busy: 2, Idle: 2}}},
		{name: "no cores", text: "intr 1\n", err: "no processor"},
		{name: "three columns", text: "cpu0 1 2 3\n", err: "line 1"},
		{name: "a word for a number", text: "cpu 1\ncpu0 1 2 x 4\n", err: "line 2"},
		{name: "a bad name", text: "cpufreq 1 2 3 4\n", err: "processor number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendCPUTimes(nil, []byte(c.text))
			if c.err != "" {
				if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v does not say %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The line "cpu" is the kernel's own sum of the cores.
func TestCPUTimesAddUp(t *testing.T) {
	text := load(t, "stat-2cpu.txt")
	cores, err := AppendCPUTimes(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := parseCPU([]byte("cpu0" + strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "cpu")))
	if err != nil {
		t.Fatal(err)
	}
	if len(cores) != 2 {
		t.Fatal(cores)
	}
	// Each core's ticks are rounded down by themselves.
	if d := int64(sum.Total()) - int64(cores[0].Total()+cores[1].Total()); d < 0 || d > 16 {
		t.Errorf("the sum differs by %d ticks", d)
	}
}

// The 22nd field of /proc/PID/stat, also where the name looks like fields of its own.
func TestProcStart(t *testing.T) {
	const rest = " S 1 7 7 0 -1 4194560 2045 0 0 0 5 3 0 0 20 0 9 0 264553 1284640768 1875"
	for text, want := range map[string]uint64{"7 (netwatch)" + rest: 264553, "7 (a) S 1 2 (b)" + rest + "\n": 264553} {
		if got, err := ParseProcStart([]byte(text)); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "7 netwatch S 1", "7 (netwatch) S 1 7", "7 (x)" + strings.Replace(rest, "264553", "-1", 1)} {
		if got, err := ParseProcStart([]byte(text)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func FuzzProc(f *testing.F) {
	for _, name := range []string{"interrupts-virtio.txt", "interrupts-igb.txt", "interrupts-arm64.txt", "stat-2cpu.txt"} {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for q, err := range Interrupts(b) {
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			for h := range q.Handlers() {
				if len(h) == 0 {
					t.Fatal("empty handler")
				}
			}
		}
		if _, err := ParseProcStart(b); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		if _, err := AppendCPUTimes(nil, b); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}

func BenchmarkInterrupts(b *testing.B) {
	text := load(b, "interrupts-virtio.txt")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range Interrupts(text) {
		}
	}
}
