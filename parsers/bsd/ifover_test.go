package bsd

import (
	"errors"
	"slices"
	"testing"
)

// put writes text at a place of a record.
func put(b []byte, at int, text string) []byte { copy(b[at:], text); return b }

func TestParseVlan(t *testing.T) {
	// struct vlanreq: vlr_parent[16], vlr_tag, vlr_proto.
	b := put(make([]byte, 20), 0, "em4")
	b[16], b[17] = 0x2c, 0x01 // 300
	if parent, tag, err := ParseVlan(b); err != nil || parent != "em4" || tag != 300 {
		t.Error(parent, tag, err)
	}
	if _, _, err := ParseVlan(b[:19]); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestParseLagg(t *testing.T) {
	all, ports := make([]byte, 80), make([]byte, 4*72)
	all[40] = 2
	put(put(ports, 0, "lagg0"), 16, "em0")
	put(put(ports, 72, "lagg0"), 72+16, "abcdefghijklmno") // as long as a name can be
	put(ports, 2*72+16, "stale")
	members, err := ParseLagg(all, ports)
	if err != nil || !slices.Equal(members, []string{"em0", "abcdefghijklmno"}) {
		t.Error(members, err)
	}
	all[40], all[43] = 0xff, 0xff // more than there is room for, or rubbish
	if members, err := ParseLagg(all, ports); err != nil || len(members) != 3 {
		t.Error(members, err)
	}
	if _, err := ParseLagg(all[:79], ports); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestParseBridge(t *testing.T) {
	b := put(put(make([]byte, 160), 0, "em0"), 80, "epair0a")
	if members, err := ParseBridge(b); err != nil || !slices.Equal(members, []string{"em0", "epair0a"}) {
		t.Error(members, err)
	}
	if _, err := ParseBridge(b[:81]); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if members, err := ParseBridge(nil); err != nil || members != nil {
		t.Error(members, err)
	}
}

func FuzzInterfacesBelow(f *testing.F) {
	f.Add(make([]byte, 80), make([]byte, 72))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ParseVlan(a)
		ParseBridge(a)
		if members, err := ParseLagg(a, b); err == nil && len(members) > len(b)/72 {
			t.Error(members)
		}
	})
}
