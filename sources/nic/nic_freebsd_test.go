package nic

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"netwatch/sources"
)

// lo0 of this kernel counts what is sent over it.
func TestLoopback(t *testing.T) {
	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("lo0").Run(ctx, l) }()
	var sum float64
	for deadline := time.Now().Add(10 * time.Second); sum < 100*1000 && time.Now().Before(deadline); {
		if c, err := net.Dial("udp", "127.0.0.1:9"); err == nil {
			c.Write(make([]byte, 1000))
			c.Close()
		}
		time.Sleep(5 * time.Millisecond)
		sum, _ = total(l.of(sources.TxOctets))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if sum < 100*1000 {
		t.Skipf("%v octets: lo0 seems to be down", sum)
	}
	if len(l.events) > 0 {
		t.Errorf("%+v", l.events)
	}
}

func TestNoSuchInterface(t *testing.T) {
	if err := New("none9").Run(t.Context(), &log{}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if _, err := Describe("none9"); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

func TestDescribe(t *testing.T) {
	f, err := Describe("lo0")
	if err != nil || f.Name != "lo0" || f.MTU == 0 || f.Media != "" {
		t.Errorf("%+v, %v", f, err)
	}
}
