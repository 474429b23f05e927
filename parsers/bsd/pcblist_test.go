package bsd

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var stateNames = []string{"CLOSED", "LISTEN", "SYN_SENT", "SYN_RECEIVED", "ESTABLISHED", "CLOSE_WAIT", "FIN_WAIT_1", "CLOSING",
	"LAST_ACK", "FIN_WAIT_2", "TIME_WAIT"}

// An entry of the table in the words of the other reader.
func words(p PCB) string {
	return fmt.Sprintf("laddr=%v lport=%d faddr=%v fport=%d flowid=%08x flowtype=%d state=%s stack=%s cc=%s cwnd=%d ssthresh=%d maxseg=%d",
		p.Local.Addr(), p.Local.Port(), p.Remote.Addr(), p.Remote.Port(), p.FlowID, p.FlowType, stateNames[p.State], p.Stack, p.CC,
		p.Cwnd, p.Ssthresh, p.MaxSeg)
}

// wanted are the connections that another reader found in each file, without the fields
// that PCB does not carry.
func wanted(t *testing.T, decoded string) map[string][]string {
	all, file := map[string][]string{}, ""
	for line := range strings.Lines(string(load(t, decoded))) {
		if !strings.HasPrefix(line, " ") {
			file, _, _ = strings.Cut(line, " ")
			continue
		}
		_, line, _ = strings.Cut(line, "laddr=")
		line, _, _ = strings.Cut(line, " rcvwnd=")
		all[file] = append(all[file], "laddr="+line)
	}
	return all
}

// IPv4, IPv6, IPv4 on an IPv6 socket, listeners; a scope inside the address, TIME_WAIT;
// flow ids of a multipath route; one connection ten times over a slow path.
func TestAppendPCBs(t *testing.T) {
	files, err := filepath.Glob("testdata/pcblist/*.bin.gz")
	if err != nil || len(files) != 14+10 {
		t.Fatal(len(files), err)
	}
	want := wanted(t, "pcblist/decoded.txt")
	maps.Copy(want, wanted(t, "pcblist/relay-decoded.txt"))
	for _, path := range files {
		file := strings.TrimSuffix(filepath.Base(path), ".gz")
		pcbs, err := AppendPCBs(nil, load(t, "pcblist/"+file+".gz"))
		var got []string
		for _, p := range pcbs {
			got = append(got, words(p))
		}
		if d := cmp.Diff(want[file], got); d != "" || err != nil {
			t.Errorf("%s: %v %s", file, err, d)
		}
	}
}

// The host sent: data waits in the send buffer, and the other side's port is the
// load generator's.
func TestPCBOfASender(t *testing.T) {
	for _, release := range []string{"14.0", "15.0"} {
		pcbs, err := AppendPCBs(nil, load(t, "raw/"+release+"-t0.net.inet.tcp.pcblist.bin"))
		if err != nil || len(pcbs) != 1 {
			t.Fatal(release, pcbs, err)
		}
		p := pcbs[0]
		if p.Remote != netip.MustParseAddrPort("10.9.0.2:5001") || p.State != StateEstablished || !p.State.Moving() ||
			p.SendQueue == 0 || p.Cwnd == 0 || p.MaxSeg != 1460 || p.CC != "cubic" || p.Gen == 0 {
			t.Errorf("%s: %+v", release, p)
		}
	}
	// The bytes of 15.0: so_snd.sb_cc 78 01 03 00, gencnt 01, t_sndrexmitpack 1d 04.
	pcbs, _ := AppendPCBs(nil, load(t, "raw/15.0-t0.net.inet.tcp.pcblist.bin"))
	if p := pcbs[0]; p.SendQueue != 0x30178 || p.Gen != 1 || p.RexmitPackets != 0x41d {
		t.Errorf("%+v", p)
	}
}

func TestPCBsRefuse(t *testing.T) {
	good := load(t, "pcblist/txt-linklocal-v6.pcblist-host-0.bin.gz")
	stride := bytes.Clone(good)
	order.PutUint64(stride[xinpgenLen:], 752)
	for _, c := range []struct {
		name string
		b    []byte
		good int // entries that are kept
	}{
		{"empty", nil, 0},
		{"head alone", good[:64], 0},
		{"cut in the second entry", good[:64+744+100], 1},
		{"no trailer", good[:64+744], 1},
		{"another stride", stride, 0},
		{"head of another length", good[64:], 0},
	} {
		got, err := AppendPCBs(nil, c.b)
		if !errors.Is(err, ErrFormat) || len(got) != c.good {
			t.Errorf("%s: %d entries, %v", c.name, len(got), err)
		}
	}
}

func BenchmarkAppendPCBs(b *testing.B) {
	raw := load(b, "pcblist/txt-hash-outbound.pcblist-host-0.bin.gz")
	var pcbs []PCB
	b.ReportAllocs()
	for b.Loop() {
		pcbs, _ = AppendPCBs(pcbs[:0], raw)
	}
}
