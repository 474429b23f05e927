package irq

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes /proc/interrupts and the part of /sys that names a card's vectors.
func tree(t *testing.T, interrupts string, files ...string) (proc, sys string) {
	t.Helper()
	root := t.TempDir()
	proc, sys = filepath.Join(root, "proc"), filepath.Join(root, "sys")
	write(t, filepath.Join(proc, "interrupts"), interrupts)
	for _, f := range files {
		name, target, isLink := strings.Cut(f, " -> ")
		path := filepath.Join(sys, name)
		if !isLink {
			write(t, path, "x")
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(sys, target), path); err != nil {
			t.Fatal(err)
		}
	}
	return proc, sys
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const heading = "           CPU0       CPU1\n"

func TestLinesOf(t *testing.T) {
	for _, c := range []struct {
		name, iface, text string
		files             []string
		want              []line
	}{
		{"virtio: vectors at the parent", "eth0", heading +
			" 36:  0  9 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n" +
			" 37:  0  0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n" +
			" 38:  1  2 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n" +
			" 39:  3  4 PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0\n",
			[]string{"class/net/eth0/device -> devices/pci/virtio2", "devices/pci/virtio2/uevent", "devices/pci/msi_irqs/37",
				"devices/pci/msi_irqs/38", "devices/pci/msi_irqs/39"},
			[]line{{"37", "config", false}, {"38", "input.0", false}, {"39", "output.0", false}}},
		{"mlx5: names without the interface", "enp3s0", heading +
			" 130:  2  0  IR-PCI-MSI 524289-edge      mlx5_comp0@pci:0000:03:00.0\n" +
			" 131:  2  0  IR-PCI-MSI 524290-edge      mlx5_comp1@pci:0000:04:00.0\n",
			[]string{"class/net/enp3s0/device -> devices/0000:03:00.0", "devices/0000:03:00.0/msi_irqs/130"},
			[]line{{"130", "mlx5_comp0", false}}},
		{"by name alone, as in another namespace", "ens1f0", heading +
			" 129: 1 1 IR-PCI-MSI 524288-edge i40e-ens1f0-TxRx-0\n" +
			" 130: 1 1 IR-PCI-MSI 524289-edge i40e-ens1f01-TxRx-0\n" +
			" 131: 1 1 IR-PCI-MSI 524290-edge ens1f0\n", nil,
			[]line{{"129", "TxRx-0", false}, {"131", "irq131", false}}},
		{"shared INTx", "eth2", heading + "  16:  0 12  IR-IO-APIC   16-fasteoi   ehci_hcd:usb1, eth2\n", nil,
			[]line{{"16", "irq16", true}}},
		{"a vlan has those of its parent", "eth0.100", heading +
			" 38:  1  2 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n" +
			" 40:  1  2 PCI-MSIX-0000:00:04.0   1-edge      virtio3-input.0\n",
			[]string{"class/net/eth0/device -> devices/pci/virtio2", "devices/pci/virtio2/uevent", "devices/pci/msi_irqs/38", "class/net/eth0.100/lower_eth0"},
			[]line{{"38", "eth0:input.0", false}}},
		{"a bond has those of its members", "bond0", heading +
			" 129: 1 1 IR-PCI-MSI 524288-edge ens1f0-TxRx-0\n" +
			" 130: 1 1 IR-PCI-MSI 524289-edge ens1f1-TxRx-0\n" +
			" 131: 1 1 IR-PCI-MSI 524290-edge ens2\n",
			[]string{"class/net/bond0/lower_ens1f0", "class/net/bond0/lower_ens1f1"},
			[]line{{"129", "ens1f0:TxRx-0", false}, {"130", "ens1f1:TxRx-0", false}}},
		{"ena", "ens5", heading +
			" 27:  0 0 PCI-MSIX-0000:00:05.0 0-edge ena-mgmnt@pci:0000:00:05.0\n" +
			" 28:  5 0 PCI-MSIX-0000:00:05.0 1-edge ens5-Tx-Rx-0\n",
			[]string{"class/net/ens5/device -> devices/0000:00:05.0", "devices/0000:00:05.0/msi_irqs/27", "devices/0000:00:05.0/msi_irqs/28"},
			[]line{{"27", "ena-mgmnt", false}, {"28", "Tx-Rx-0", false}}},
		{"a veth has none", "veth0", heading + "  16:  0 12  IR-IO-APIC   16-fasteoi   eth2\n", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc, sys := tree(t, c.text, c.files...)
			k, err := openRoots(c.iface, proc, sys)
			if err != nil {
				t.Fatal(err)
			}
			defer k.close()
			got, err := k.lines()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(line{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// The kernel counts in 32 bits: a wrap is a step, a driver that was loaded again
// is a count that went back.
func TestWrapAndReset(t *testing.T) {
	proc, sys := tree(t, heading+" 9: 4294967290 0 x 1-edge eth0\n")
	k, err := openRoots("eth0", proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if _, err := k.lines(); err != nil {
		t.Fatal(err)
	}
	read := func(counts string) count {
		t.Helper()
		// The file is kept open: write in place.
		write(t, filepath.Join(proc, "interrupts"), heading+" 9: "+counts+" x 1-edge eth0\n")
		got, err := k.counts(nil)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		return got[0]
	}
	first := read("4294967290 0")
	if wrapped := read("4 10"); wrapped.value-first.value != 20 || !wrapped.ok { // -6 to 14
		t.Errorf("%v then %v", first, wrapped)
	}
	before := read("4 1000010")
	if again := read("5 0"); again.value >= before.value {
		t.Errorf("%v then %v: not seen as a new count", before, again)
	}
	write(t, filepath.Join(proc, "interrupts"), heading+" 10: 1 1 x 1-edge eth9\n")
	if got, err := k.counts(nil); err != nil || got[0].ok {
		t.Errorf("the line is gone: %v, %v", got, err)
	}
}

func TestUnreadableTable(t *testing.T) {
	proc, sys := tree(t, "no table\n")
	k, err := openRoots("eth0", proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if _, err := k.lines(); err == nil {
		t.Error("a text without processors was taken for a table")
	}
}

func BenchmarkCounts(b *testing.B) {
	k, err := openRoots("eth0", "/proc", "/sys")
	if err != nil {
		b.Skip(err)
	}
	defer k.close()
	if _, err := k.lines(); err != nil {
		b.Fatal(err)
	}
	var counts []count
	b.ReportAllocs()
	for b.Loop() {
		if counts, err = k.counts(counts[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
