package knobs

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"netwatch/sources"
	"netwatch/sources/netns"
)

// A card that was renamed while a knob of it was turned: restore cannot find it, and says
// under which name it may be and what to type.
func TestRestoreAfterARename(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	ip := func(words string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", words, err, out)
		}
	}
	ip("link add zz0 type veth peer name zz1")
	dir, k := stateDirOf(t), newFake("tso", "on")
	tso := variable{spec: sources.KnobSpec{Name: "tso", Subject: "zz0", Command: "sudo ethtool -K zz0 tso %s"}, name: "tso", kernel: k}
	turn(t, NewJournaled(&log{}, aJournal(t, dir, gone, nil), tso), "tso", "off")
	open := func(e Entry) (sources.Knob, error) {
		if _, err := net.InterfaceByName(e.Subject); err != nil {
			return nil, err
		}
		return tso, nil
	}
	ip("link set zz0 name wan0")
	j := aJournal(t, dir, 77, nil)
	got, err := j.Restore(t.Context(), false, open)
	const want = " is wan0 now: if that is zz0 renamed, name it zz0 again (sudo ip link set wan0 name zz0) and type netwatch restore"
	if err != nil || len(got) != 1 || got[0].Fate != Failed || !strings.HasSuffix(got[0].Text, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	ip("link set wan0 name zz0")
	if got, err := j.Restore(t.Context(), false, open); err != nil || len(got) != 1 || got[0].Fate != PutBack {
		t.Errorf("%+v, %v", got, err)
	}

	turn(t, NewJournaled(&log{}, aJournal(t, dir, gone, nil), tso), "tso", "off")
	ip("link del zz0")
	if got, err := j.Restore(t.Context(), false, open); err != nil || len(got) != 1 || strings.Contains(got[0].Text, "renamed") {
		t.Errorf("gone: %+v, %v", got, err)
	}
}
