package knobs

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"netwatch/sources/netns"
)

// A namespace that is gone may leave its inode's number to another one. Their names in the
// journal differ all the same.
func TestNetIDIsNeverUsedAgain(t *testing.T) {
	const say = "NETWATCH_TEST_NETID"
	if os.Getenv(say) != "" {
		os.Stdout.WriteString("id=" + netID() + "\n")
		return
	}
	netns.Need(t)
	inodes, ids := map[string]int{}, map[string]int{}
	for range 8 {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), say+"=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Skipf("network namespaces do not work here: %v: %s", err, out)
		}
		_, id, _ := strings.Cut(string(out), "id=")
		id, _, _ = strings.Cut(id, "\n")
		inode, cookie, _ := strings.Cut(id, " ")
		if cookie == "" {
			t.Skip("this kernel tells no cookie of a namespace: ", id)
		}
		inodes[inode]++
		ids[id]++
	}
	if len(ids) != 8 {
		t.Errorf("8 namespaces have %d names: %v", len(ids), ids)
	}
	t.Logf("%d inodes", len(inodes))
}
