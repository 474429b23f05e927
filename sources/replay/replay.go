// Package replay plays a recording back: the same Batches, at the pace they were
// made or faster. It does not look into them.
package replay

import (
	"context"
	"io"
	"time"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

// A Player reads one recording. Its Batches keep their recorded times: the
// session's clock is that of the recording.
type Player struct {
	r     *recording.Reader
	speed float64
	out   chan sources.Batch
}

// Open reads the header of a recording; name is for messages. speed 1 is the
// recorded pace, 0 is as fast as it is read.
func Open(in io.Reader, name string, speed float64) (*Player, error) {
	r, err := recording.NewReader(in, name)
	if err != nil {
		return nil, err
	}
	return &Player{r: r, speed: speed, out: make(chan sources.Batch)}, nil
}

// Header is the recording's own.
func (p *Player) Header() recording.Header { return p.r.Header }

// Batches is the stream; it is closed when Play returns.
func (p *Player) Batches() <-chan sources.Batch { return p.out }

// Damage tells the lines that could not be read and how many there were.
func (p *Player) Damage() ([]error, int) { return p.r.Bad, p.r.NBad }

// Play sends every Batch until the recording or ctx ends.
func (p *Player) Play(ctx context.Context) error {
	defer close(p.out)
	var first, began time.Time
	return p.r.Copy(func(b sources.Batch) error {
		if first.IsZero() {
			first, began = b.At, time.Now()
		}
		if p.speed > 0 {
			due := began.Add(time.Duration(float64(b.At.Sub(first)) / p.speed))
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case p.out <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}
