package linux

import (
	"encoding/binary"
	"fmt"
)

// Lengths of struct tcp_info (linux/tcp.h) up to the fields that came later.
const (
	tcpInfoMin   = 104 // Linux 2.6.12: up to tcpi_total_retrans
	tcpInfoBytes = 136 // Linux 4.1: tcpi_bytes_acked, tcpi_bytes_received
)

// ssthreshUnset is TCP_INFINITE_SSTHRESH: no loss was seen yet.
const ssthreshUnset = 0x7fffffff

// TCPInfo is the part of struct tcp_info that netwatch shows. Windows are in
// segments of SndMSS bytes, times in microseconds.
type TCPInfo struct {
	SndMSS       uint32
	Unacked      uint32 // segments sent and not yet acknowledged
	Sacked, Lost uint32 // of these: selectively acknowledged, taken for lost
	Retrans      uint32 // segments on their way for a second time
	RTT, RTTVar  uint32 // smoothed; RTTVar is the mean deviation
	Ssthresh     uint32 // see SsthreshBytes
	Cwnd         uint32
	TotalRetrans uint32 // segments sent again in the life of the connection

	BytesAcked, BytesReceived uint64 // payload, in the life of the connection
	HasBytes                  bool   // false before Linux 4.1
}

// CwndBytes is the congestion window in bytes.
func (t TCPInfo) CwndBytes() uint64 { return uint64(t.Cwnd) * uint64(t.SndMSS) }

// SsthreshBytes is the slow start threshold in bytes; ok is false while it is unset.
func (t TCPInfo) SsthreshBytes() (n uint64, ok bool) {
	if t.Ssthresh >= ssthreshUnset {
		return 0, false
	}
	return uint64(t.Ssthresh) * uint64(t.SndMSS), true
}

// InflightBytes is what the kernel calls packets in flight, times SndMSS:
// segments sent, without those acknowledged, selectively acknowledged or taken
// for lost, and with those retransmitted. The last segment may be shorter.
func (t TCPInfo) InflightBytes() uint64 {
	out := int64(t.Unacked) - int64(t.Sacked) - int64(t.Lost) + int64(t.Retrans)
	return uint64(max(out, 0)) * uint64(t.SndMSS)
}

func parseTCPInfo(b []byte) (TCPInfo, error) {
	if len(b) < tcpInfoMin {
		return TCPInfo{}, fmt.Errorf("tcp_info of %d bytes, want %d: %w", len(b), tcpInfoMin, ErrFormat)
	}
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	t := TCPInfo{
		SndMSS:  u32(16),
		Unacked: u32(24), Sacked: u32(28), Lost: u32(32), Retrans: u32(36),
		RTT: u32(68), RTTVar: u32(72),
		Ssthresh: u32(76), Cwnd: u32(80), TotalRetrans: u32(100),
	}
	if len(b) >= tcpInfoBytes {
		t.HasBytes = true
		t.BytesAcked = binary.NativeEndian.Uint64(b[120:])
		t.BytesReceived = binary.NativeEndian.Uint64(b[128:])
	}
	return t, nil
}
