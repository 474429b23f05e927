package tcp

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"netwatch/sources"
	"netwatch/sources/netns"
)

const peerMode = "NETWATCH_TEST_PEER"

// TestPeer is the other end of TestVethTransfer, in a namespace of its own: it takes
// one connection and swallows what comes.
func TestPeer(t *testing.T) {
	if os.Getenv(peerMode) == "" {
		t.Skip("only the far end of TestVethTransfer")
	}
	// The parent gives this namespace its interface, then sends a byte.
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", ":5201")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listening")
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, c)
}

// A real transfer between two namespaces: the payload told is the payload sent,
// and the run is noticed.
func TestVethTransfer(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip("the nsenter command is missing")
	}
	peer := exec.Command(os.Args[0], "-test.run=^TestPeer$", "-test.v")
	peer.Env = append(os.Environ(), peerMode+"=1")
	peer.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	in, err := peer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := peer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.Start(); err != nil {
		t.Skip("no second namespace:", err)
	}
	defer peer.Process.Kill()
	pid := strconv.Itoa(peer.Process.Pid)
	netns.Run(t, "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1", "netns", pid)
	netns.Run(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "veth0")
	netns.Run(t, "ip", "link", "set", "veth0", "up")
	netns.Run(t, "nsenter", "-t", pid, "-n", "ip", "addr", "add", "10.77.0.2/24", "dev", "veth1")
	netns.Run(t, "nsenter", "-t", pid, "-n", "ip", "link", "set", "veth1", "up")
	fmt.Fprint(in, "x")
	for heard := ""; len(heard) < len("listening") || heard[len(heard)-9:] != "listening"; {
		b := make([]byte, 1)
		if _, err := out.Read(b); err != nil {
			t.Fatal("the peer does not listen: ", heard)
		}
		heard += string(b)
	}

	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New("veth0", followEvery, true).Run(ctx, l) }()

	c, err := net.Dial("tcp", "10.77.0.2:5201")
	if err != nil {
		t.Fatal(err)
	}
	id := c.LocalAddr().String() + ">10.77.0.2:5201"
	// Until it is followed, then a known amount.
	send := func(until func() bool) (n float64) {
		for deadline := time.Now().Add(10 * time.Second); !until(); {
			if time.Now().After(deadline) {
				t.Fatalf("the connection is not told: %v", l.events)
			}
			m, err := c.Write(make([]byte, 100_000))
			if err != nil {
				t.Fatal(err)
			}
			n += float64(m)
			time.Sleep(10 * time.Millisecond)
		}
		return n
	}
	count := func() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.of(id, sources.Goodput)) }
	started := send(func() bool { return count() > 0 })
	followed := send(func() bool { return count() >= 20 })
	c.Close()
	ended := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.events) > 0 && l.events[len(l.events)-1].Kind == sources.RunEnded
	}
	for deadline := time.Now().Add(10 * time.Second); !ended() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}

	var sum float64
	for _, s := range l.of(id, sources.Goodput) {
		sum += s.Sum
	}
	// What was sent before the first sample is not in the sum, all of the rest is.
	if sum > started+followed || sum < followed*0.9 {
		t.Errorf("told %v octets, sent %v then %v", sum, started, followed)
	}
	rtts := l.of(id, sources.SRTT)
	if len(rtts) == 0 || rtts[0].Last <= 0 || rtts[0].Last > 1e6 {
		t.Errorf("srtt %+v", rtts)
	}
	if cwnd := l.of(id, sources.Cwnd); len(cwnd) == 0 || cwnd[0].Last < 1448 {
		t.Errorf("cwnd %+v", cwnd)
	}
	want := []string{"flow-seen " + id, "run-started noticed #1", "flow-ended " + id, "run-ended noticed #1"}
	if fmt.Sprint(l.story()) != fmt.Sprint(want) {
		t.Errorf("%v", l.story())
	}
}

func BenchmarkExact(b *testing.B) { benchmark(b, true) }
func BenchmarkDump(b *testing.B)  { benchmark(b, false) }

func benchmark(b *testing.B, exact bool) {
	k, err := openKernel()
	if err != nil {
		b.Skip(err)
	}
	defer k.close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Skip(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	all, err := k.dump(nil)
	if err != nil || len(all) == 0 {
		b.Fatal(all, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if exact {
			err = k.one(&all[0])
		} else {
			all, err = k.dump(all[:0])
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
