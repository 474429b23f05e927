package bsd

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every reply of the kernels of 14.0 and 15.0 that was taken has the length its log tells,
// and says what is known of that host: two cores, em0 at 1 Gbit/s and lo0, one
// connection. No counter of the later reply is below that of the earlier one.
func TestCapturedReplies(t *testing.T) {
	const lost = "14.0-t0.kern.version.bin 14.0-t1.kern.version.bin" // were not kept
	row := regexp.MustCompile(`(?m)^(t[01])\.(.*)\.bin (\d+)$`)
	for release, want := range map[string]int{"14.0": 30, "15.0": 32} {
		rows := row.FindAllStringSubmatch(string(load(t, "raw/"+release+"-log.txt")), -1)
		if len(rows) != 2*want {
			t.Errorf("%s: %d replies", release, len(rows))
		}
		before := map[string][]uint64{}
		for _, r := range rows {
			at, name := r[1], r[2]
			file := release + "-" + at + "." + name + ".bin"
			if strings.Contains(lost, file) {
				continue
			}
			b := load(t, "raw/"+file)
			if n, _ := strconv.Atoi(r[3]); len(b) != n {
				t.Errorf("%s has %d bytes", r[0], len(b))
			}
			counters, said, err := replyOf(name, b)
			if err != nil || said != wordsOf(release, name) {
				t.Errorf("%s %s %s: %q, %v, want %q", release, at, name, said, err, wordsOf(release, name))
			}
			if at == "t0" {
				before[name] = counters
				continue
			}
			for i := range counters {
				if len(before[name]) != len(counters) || counters[i] < before[name][i] {
					t.Errorf("%s %s: from %v to %v", release, name, before[name], counters)
					break
				}
			}
		}
	}
}

// wordsOf is what a reply says that holds still, by the notes beside the bytes and what
// the same kernels printed.
func wordsOf(release, name string) string {
	switch name {
	case "kern.osrelease":
		return map[string]string{"14.0": "14.0-STABLE", "15.0": "15.0-RELEASE-src-snapshot"}[release]
	case "kern.boottime": // 12:37:53 and 12:37:18 UTC
		return map[string]string{"14.0": "1796042273", "15.0": "1796042238"}[release]
	}
	return map[string]string{
		"net.link.generic.ifdata.em0.1": "em0 up mtu 1500 flags 0x8843 at 1000000000 link 2",
		"net.link.generic.ifdata.lo0.1": "lo0 up mtu 16384 flags 0x8049 at 0 link 2",
		"net.link.generic.ifdata.em0.2": "nothing", "net.link.generic.ifdata.lo0.2": "nothing",
		"net.link.generic.ifdata.em0.3": "em 0 true", "net.link.generic.ifdata.lo0.3": "lo 0 true",
		"SIOCGIFCAP.em0": "0x48525bb of 0x4953dbb", "SIOCGIFCAP.lo0": "0x680003 of 0x680003",
		"SIOCGIFFLAGS.em0": "em0 0x8843", "SIOCGIFFLAGS.lo0": "lo0 0x8049",
		"SIOCGIFMTU.em0": "em0 0x5dc", "SIOCGIFMTU.lo0": "lo0 0x4000",
		"SIOCGIFMEDIA.em0": "1000baseT full-duplex true", "SIOCGIFXMEDIA.em0": "1000baseT full-duplex true",
		"kern.cp_times": "2 cores", "kern.cp_time": "1 cores", "kern.clockrate": "hz 100 stathz 127",
		"kern.boot_id": "16 octets", "kern.hostname": "fbsdvm", "hw.model": "QEMU TCG CPU version 2.5+", "hw.ncpu": "2",
		"kern.version": "FreeBSD 15.0-RELEASE-src-snapshot FBSDVM", "net.inet.tcp.cc.algorithm": "cubic",
		"net.inet.tcp.functions_default": "freebsd", "net.route.hash_outbound": "0",
		"net.inet.tcp.pcblist": "10.9.0.2:5001", "dev.em.0.enable_aim": "1", "dev.em.0.queue_rx_0.interrupt_rate": "4002",
	}[name]
}

// replyOf decodes a reply by its name: its counters, and what holds still.
func replyOf(name string, b []byte) (counters []uint64, said string, err error) {
	switch call, _, _ := strings.Cut(name, ".em0"); {
	case strings.HasSuffix(name, "0.1"):
		m, err := ParseIfMIB(b)
		d := m.Data
		up := map[bool]string{true: "up", false: "down"}[m.Up()]
		return []uint64{d.RxOctets, d.TxOctets, d.RxPackets, d.TxPackets, d.RxErrors, d.TxErrors, d.RxDrops, d.TxDrops},
			fmt.Sprintf("%s %s mtu %d flags %#x at %d link %d", m.Name, up, d.MTU, m.Flags, d.Baudrate, d.LinkState), err
	case strings.HasSuffix(name, "0.2"): // em and lo have no data of their driver
		if _, err := ParseIfMIB(b); !errors.Is(err, ErrFormat) {
			return nil, "", errors.New("nothing was decoded")
		}
		return nil, "nothing", nil
	case strings.HasSuffix(name, "0.3"):
		driver, unit, ok := ParseDriverName(b)
		return nil, fmt.Sprint(driver, " ", unit, " ", ok), nil
	case call == "SIOCGIFMEDIA" || call == "SIOCGIFXMEDIA":
		m, err := ParseMedia(b)
		return nil, fmt.Sprint(m.Name, " ", m.Active), err
	case strings.HasPrefix(name, "SIOCGIFCAP"):
		enabled, supported, err := ParseIfCap(b)
		return nil, fmt.Sprintf("%#x of %#x", uint32(enabled), uint32(supported)), err
	case strings.HasPrefix(name, "SIOC"): // the same number is in ifmibdata, where netwatch reads it
		return nil, fmt.Sprintf("%s %#x", cString(b), order.Uint32(b[16:])), nil
	}
	return sysctlOf(name, b)
}

func sysctlOf(name string, b []byte) (counters []uint64, said string, err error) {
	switch name {
	case "kern.cp_times", "kern.cp_time":
		cores, err := AppendCPTimes(nil, b)
		for _, c := range cores {
			counters = append(counters, c.User, c.Nice, c.Sys, c.Intr, c.Idle)
		}
		return counters, fmt.Sprint(len(cores), " cores"), err
	case "kern.clockrate":
		c, err := ParseClockRate(b)
		return nil, fmt.Sprintf("hz %d stathz %d", c.Hz, c.StatHz), err
	case "kern.boottime":
		seconds, err := Timeval(b)
		return nil, strconv.FormatInt(seconds, 10), err
	case "kern.boot_id":
		return nil, fmt.Sprint(len(b), " octets"), nil
	case "net.inet.tcp.pcblist":
		pcbs, err := AppendPCBs(nil, b)
		for _, p := range pcbs {
			counters, said = append(counters, uint64(p.RexmitPackets), p.Gen), said+p.Remote.String()
		}
		return counters, said, err
	case "net.inet.tcp.stats": // netwatch does not ask for it; TestRexmitsOfTheHost does
		_, err := Word(TypeOpaque, b)
		if errors.Is(err, ErrFormat) {
			err = nil
		}
		return nil, "", err
	case "dev.em.0.mac_stats.good_octets_txd":
		n, err := Uint(b)
		return []uint64{n}, "", err
	case "hw.ncpu", "net.route.hash_outbound", "dev.em.0.enable_aim", "dev.em.0.queue_rx_0.interrupt_rate":
		said, err = Word(TypeInt, b)
		return nil, said, err
	}
	said, err = Word(TypeString, b)
	return nil, said, err
}

// tcps_sndrexmitpack of the host, the 21st counter of struct tcpstat, is that of its one
// connection.
func TestRexmitsOfTheHost(t *testing.T) {
	for _, at := range []string{"14.0-t0", "14.0-t1", "15.0-t0", "15.0-t1"} {
		pcbs, err := AppendPCBs(nil, load(t, "raw/"+at+".net.inet.tcp.pcblist.bin"))
		if err != nil || len(pcbs) != 1 {
			t.Fatal(at, pcbs, err)
		}
		if want := order.Uint64(load(t, "raw/"+at+".net.inet.tcp.stats.bin")[20*8:]); want == 0 || uint64(pcbs[0].RexmitPackets) != want {
			t.Errorf("%s: %d, want %d", at, pcbs[0].RexmitPackets, want)
		}
	}
}

// The cores' times add up to the host's, which was asked a moment later: less than a
// quarter of a second of two cores.
func TestCoresAddUp(t *testing.T) {
	for _, at := range []string{"14.0-t0", "14.0-t1", "15.0-t0", "15.0-t1"} {
		cores, err := AppendCPTimes(nil, load(t, "raw/"+at+".kern.cp_times.bin"))
		whole, wrong := AppendCPTimes(nil, load(t, "raw/"+at+".kern.cp_time.bin"))
		if err != nil || wrong != nil || len(cores) != 2 || len(whole) != 1 {
			t.Fatal(at, cores, err, whole, wrong)
		}
		for what, of := range map[string]func(CPTime) uint64{"busy": CPTime.Busy, "total": CPTime.Total} {
			if sum, all := of(cores[0])+of(cores[1]), of(whole[0]); all < sum || all > sum+2*127/4 {
				t.Errorf("%s: %s %d, want %d", at, what, sum, all)
			}
		}
	}
}

// lo0 has no medium: the kernel refused the question, and there is no reply.
func TestNoMediumOfLoopback(t *testing.T) {
	for _, release := range []string{"14.0", "15.0"} {
		if n := bytes.Count(load(t, "raw/"+release+"-log.txt"), []byte("MEDIA.lo0.bin errno invalid argument")); n != 4 {
			t.Error(release, n)
		}
	}
}
