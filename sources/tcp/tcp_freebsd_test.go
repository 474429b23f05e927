package tcp

import (
	"errors"
	"net"
	"testing"
)

// A connection of this process is in this kernel's table.
func TestThisKernel(t *testing.T) {
	k, err := openKernel()
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Skip("no loopback:", err)
	}
	defer c.Close()
	all, err := k.dump(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.local.String() == c.LocalAddr().String() {
			if s.remote.String() != ln.Addr().String() || s.cc == "" || s.knows&(knowsBytes|knowsRTT) != 0 {
				t.Errorf("%+v", s)
			}
			if err := k.one(&s); !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("%v is not among %d connections", c.LocalAddr(), len(all))
}
