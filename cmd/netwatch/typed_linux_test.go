package main

import (
	"strings"
	"testing"
	"time"
)

// A knob without a list of values is turned by typing one; one that the kernel does not
// take is refused by it and told, and leaving puts back the first.
func TestAValueIsTyped(t *testing.T) {
	h := newHosts(t)
	const name = "net.ipv4.tcp_notsent_lowat"
	now := func() string { return strings.TrimSpace(h.must(in(h.a, "sysctl", "-n", name)...)) }
	first := now()
	term := h.netwatch(120, 40, "veth0", "--knob", "sysctl:"+name)
	wait(t, term, "its knob", 5*time.Second, has("TSO on"))
	press(t, term, "K")
	wait(t, term, "the knobs page", 5*time.Second, has("[4 knobs]", name))
	press(t, term, "G")
	press(t, term, "\x1b[C")
	wait(t, term, "what to do instead", 5*time.Second, has("has no list of values: Enter asks for one to type"))
	press(t, term, "\r")
	wait(t, term, "the question", 5*time.Second, has("-> _ "))
	press(t, term, "163840\x7f")
	wait(t, term, "what is typed", 5*time.Second, has("-> 16384_ "))
	if got := now(); got != first {
		t.Errorf("it is %s before Enter", got)
	}
	press(t, term, "\r")
	eventually(t, "the turn", 10*time.Second, func() bool { return now() == "16384" })
	wait(t, term, "the knob's value", 5*time.Second, has("=16384"))

	press(t, term, "\r")
	wait(t, term, "the question", 5*time.Second, has("-> _ "))
	press(t, term, "much\r")
	wait(t, term, "the kernel's word", 5*time.Second, has("invalid argument"))
	if got := now(); got != "16384" {
		t.Errorf("after a turn that the kernel refused it is %s", got)
	}
	leave(t, term)
	end(t, term, exitOK)
	if got := now(); got != first {
		t.Errorf("it is %s at the end, and was %s", got, first)
	}
}

// veth has no interrupt moderation, so what netwatch set refuses of a value is asked of
// the knob of a congestion control: it has a list, and Enter leaves it alone.
func TestEnterLeavesAListAlone(t *testing.T) {
	h := newHosts(t)
	term := h.netwatch(120, 40, "veth0", "--knob", "sysctl:net.ipv4.tcp_sack=0,1")
	wait(t, term, "its knob", 5*time.Second, has("TSO on"))
	press(t, term, "K")
	wait(t, term, "the knobs page", 5*time.Second, has("[4 knobs]", "tcp_sack"))
	press(t, term, "G\r")
	wait(t, term, "nothing", 5*time.Second, has(`"enter" does nothing here`))
	press(t, term, "q")
	end(t, term, exitOK)
}
