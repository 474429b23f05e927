package nic

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"netwatch/sources/ethtool"
)

// A cardStats asks one interface's driver for its statistics.
type cardStats struct {
	*ethtool.Card
	driver ethtoolDriver
	count  uint32 // statistics the driver has, as far as known
	places []place
	buf    []byte
}

func openCardStats(iface string) (*cardStats, error) {
	c, err := ethtool.Open(iface)
	return &cardStats{Card: c}, err
}

// find asks which driver it is: at the start and for another interface of the name.
func (e *cardStats) find() {
	e.driver, e.count, e.places = ethtoolDriver{}, 0, nil
	if d, err := e.Info(); err == nil {
		e.driver = ethtoolDriverOf(unix.ByteSliceToString(d.Driver[:]))
	}
}

const statsAt = 8 // where the numbers begin in struct ethtool_stats

// read reads the driver's counters into g. A driver that says nothing leaves it
// empty. The number of statistics moves with the queues, and the kernel copies
// as many as there are, so it is asked for before each reading.
func (e *cardStats) read(g *group) {
	g.reset()
	if len(e.driver.stats) == 0 {
		return
	}
	count, err := e.Count(ethtool.Statistics)
	if err != nil || count == 0 {
		return
	}
	if count != e.count {
		names, err := e.Names(ethtool.Statistics, count)
		if err != nil {
			return
		}
		e.places, e.count = e.driver.places(names), count
	}
	if len(e.places) == 0 {
		return
	}
	if need := statsAt + int(count+ethtool.Spare)*8; len(e.buf) < need {
		e.buf = make([]byte, need)
	}
	binary.NativeEndian.PutUint32(e.buf, unix.ETHTOOL_GSTATS)
	binary.NativeEndian.PutUint32(e.buf[4:], count)
	if e.Ask(e.buf) != nil || binary.NativeEndian.Uint32(e.buf[4:]) != count {
		return
	}
	for _, p := range e.places {
		g.add(p.metric, binary.NativeEndian.Uint64(e.buf[statsAt+p.index*8:]))
	}
}
