package bsd

import "fmt"

// MediaReqLen is sizeof(struct ifmediareq) on 64-bit machines.
const MediaReqLen = 48

// Bits of a media word and of the status, net/if_media.h.
const (
	mediaEther   = 0x20
	mediaType    = 0xe0
	mediaSubtype = 0x1f
	mediaFull    = 0x00100000
	mediaHalf    = 0x00200000
	statusValid  = 0x1
	statusActive = 0x2
)

// etherNames are the subtypes whose number is the same in every release. This
// request shows newer ones as "other".
var etherNames = map[uint32]string{
	3: "10baseT/UTP", 6: "100baseTX", 11: "1000baseSX", 14: "1000baseLX", 16: "1000baseT",
	18: "10Gbase-LR", 19: "10Gbase-SR", 26: "10Gbase-T",
}

// Media is what SIOCGIFMEDIA says of the link.
type Media struct {
	Active bool   // there is a carrier; false also when the driver does not know
	Name   string // "1000baseT full-duplex"; "" when the driver does not tell or the type has no name here
}

// ParseMedia decodes the struct ifmediareq that SIOCGIFMEDIA filled in.
func ParseMedia(b []byte) (Media, error) {
	if len(b) != MediaReqLen {
		return Media{}, fmt.Errorf("ifmediareq: %d bytes, want %d: %w", len(b), MediaReqLen, ErrFormat)
	}
	status, active := order.Uint32(b[24:]), order.Uint32(b[28:])
	m := Media{Active: status&(statusValid|statusActive) == statusValid|statusActive}
	if active&mediaType == mediaEther {
		m.Name = etherNames[active&mediaSubtype]
	}
	if m.Name != "" {
		switch {
		case active&mediaFull != 0:
			m.Name += " full-duplex"
		case active&mediaHalf != 0:
			m.Name += " half-duplex"
		}
	}
	return m, nil
}
