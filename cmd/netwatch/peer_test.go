package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParsePeer(t *testing.T) {
	for _, c := range []struct{ text, host, iface string }{
		{"r1", "r1", "em4"},
		{"r1:em0", "r1", "em0"},
		{"root@r1:em0", "root@r1", "em0"},
		{"10.0.0.2:em0", "10.0.0.2", "em0"},
		{"[fd00::2]:veth0", "fd00::2", "veth0"},
		{"[fd00::2]", "fd00::2", "em4"},
		{"fd00::2", "fd00::2", "em4"},
		{"root@[fe80::2%em1]:veth0", "root@fe80::2%em1", "veth0"},
		{"root@fd00::2", "root@fd00::2", "em4"},
		{"fd00::2:veth0", "", ""},
		{"[fd00::2]veth0", "", ""},
		{"[fd00::2", "", ""},
		{"r1:", "", ""},
		{"", "", ""},
	} {
		o := options{ssh: "ssh", peerPath: "netwatch", push: noPush}
		p, err := o.parsePeer(c.text, "em4")
		if c.host == "" {
			if err == nil {
				t.Errorf("%q is %s, %s", c.text, p.host, p.iface)
			}
			continue
		}
		if err != nil || p.host != c.host || p.iface != c.iface {
			t.Errorf("%q: %+v, %v", c.text, p, err)
		}
	}
}

// A sudo that may run netwatch alone, by its whole path, is used; one that may not run it
// leaves an agent without rights. A program that was pushed removes itself.
func TestRootOnAPeer(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the peer's shell is this one's: ", err)
	}
	bin := t.TempDir()
	script := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!"+sh+"\n"+text+"\n"), 0o755))
	}
	script("id", "echo 1000")
	script("netwatch", `[ "$2" = --check ] || echo "$RIGHTS: $*"`)
	script("doas", "exit 1")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("SSH_CONNECTION", "10.0.0.1 4 10.0.0.2 22")
	for _, c := range []struct{ name, sudo, want string }{
		{"a rule for netwatch alone", `[ "$2" = ` + bin + `/netwatch ] && shift && RIGHTS=root exec "$@"`, "root: agent --ssh-connection 10.0.0.1 4 10.0.0.2 22 -- em4\n"},
		{"no rule for it", "exit 1", ": agent --ssh-connection 10.0.0.1 4 10.0.0.2 22 -- em4\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script("sudo", c.sudo)
			pushed := t.TempDir()
			for _, folder := range []string{"", pushed} {
				p := &peer{path: "netwatch", iface: "em4", pushed: folder, ssh: []string{"ssh"}}
				argv := p.agentCommand()
				out, err := exec.Command(sh, "-c", argv[len(argv)-3]+" "+argv[len(argv)-2]+" "+argv[len(argv)-1]).CombinedOutput()
				if err != nil || string(out) != c.want {
					t.Errorf("%v, it ran %q, want %q", err, out, c.want)
				}
			}
			if _, err := os.Stat(pushed); !os.IsNotExist(err) {
				t.Errorf("what was pushed is still there: %v", err)
			}
		})
	}
}

func TestKnobOfBothEnds(t *testing.T) {
	for _, text := range []string{"sysctl:net.ipv4.tcp_sack=0,1", "both:sysctl:net.ipv4.tcp_sack=0,1"} {
		if name, values, err := parseKnob(text); err != nil || name != "net.ipv4.tcp_sack" || strings.Join(values, " ") != "0 1" {
			t.Errorf("%q: %s %q %v", text, name, values, err)
		}
	}
	if _, _, err := parseKnob("r1:sysctl:a=1"); err == nil {
		t.Error("a knob of one end was taken for one of both")
	}
}

// A knob whose values have blanks reaches the agent over there as one word; what a shell
// would act on is refused.
func TestKnobsOnAPeer(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the peer's shell is this one's: ", err)
	}
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "netwatch"), []byte("#!"+sh+"\n"+`[ "$2" = --check ] || printf '<%s>' "$@"`+"\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	const knob = "sysctl:net.ipv4.tcp_rmem=4096 131072 6291456,4096 16384 65536"
	o := options{ssh: "ssh", peerPath: "netwatch", push: noPush, knob: []string{knob, "sysctl:a=1"}}
	p, err := o.parsePeer("r1", "em4")
	must(t, err)
	argv := p.agentCommand()
	out, err := exec.Command(sh, "-c", strings.Join(argv[len(argv)-3:], " ")).CombinedOutput()
	if want := "<--knob><" + knob + "><--knob><sysctl:a=1><--><em4>"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("%v, the agent is told %s, want %s", err, out, want)
	}
	for _, bad := range []string{"sysctl:a=$(reboot)", "sysctl:a=`reboot`", "sysctl:a=1;reboot", `sysctl:a=" x`, "sysctl:a='", `sysctl:a=\1`, "sysctl:a=1\n2"} {
		o.knob = []string{bad}
		if _, err := o.parsePeer("r1", "em4"); err == nil || !strings.Contains(err.Error(), "--knob") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
