package ping

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"netwatch/sources"
	"netwatch/sources/proc"
)

// Fastest is the shortest interval an ordinary user of iputils has always had.
const Fastest = 200 * time.Millisecond

// bsdFastest is the shortest interval of an ordinary user on FreeBSD (ping.c: -i
// below 1 is for root).
const bsdFastest = time.Second

// A Ping is a ping that netwatch starts.
type Ping struct {
	target   string
	interval time.Duration
	book     book
}

// New makes a source that pings target every interval; 0 means Fastest. Where an
// ordinary user may not ping that fast it goes as fast as allowed and says why.
func New(target string, interval time.Duration) *Ping {
	if interval <= 0 {
		interval = Fastest
	}
	return &Ping{target: target, interval: interval, book: book{}}
}

// Name is "ping".
func (p *Ping) Name() string { return "ping" }

// Run pings until ctx ends (nil). A ping that ends by itself is an error: unknown
// host, no permission, or what it said last.
func (p *Ping) Run(ctx context.Context, sink sources.Sink) error {
	odd := func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) }
	if p.target == "" || strings.HasPrefix(p.target, "-") || strings.ContainsFunc(p.target, odd) {
		return fmt.Errorf("%q is no host to ping", p.target)
	}
	argv, interval, note := command(runtime.GOOS, os.Geteuid() == 0, isIputils, p.interval, p.target)
	child, err := proc.Start(proc.Spec{Argv: argv, Grace: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, child.Stop)()
	f := newFeed(p.book, sink, p.target, true, interval)
	if note != "" {
		f.note(time.Now(), note, false)
	}
	ticker := time.NewTicker(max(interval, Fastest))
	defer ticker.Stop()
	for {
		select {
		case o, ok := <-child.Output():
			if ok {
				f.read(o.Data, o.Stderr)
				f.flush(o.At)
				continue
			}
			f.end(time.Now())
			return ended(ctx, f.message, child.Wait())
		case now := <-ticker.C:
			f.tick(now)
		}
	}
}

// ended says in words why a ping is gone.
func ended(ctx context.Context, message string, st proc.Status) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case message != "":
		return errors.New(message)
	}
	return fmt.Errorf("ping ended: %s", st)
}

// isIputils asks the ping of a Linux whether it is iputils' or busybox's.
func isIputils() bool {
	said, _ := proc.Ask(2*time.Second, "ping", "-V")
	return strings.Contains(said, "iputils")
}

// command is the ping of a system: its options, the interval it will keep, and why
// that is not the one that was asked for.
func command(goos string, root bool, iputils func() bool, asked time.Duration, target string) (argv []string, interval time.Duration, note string) {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	slower := func(least time.Duration, who string) {
		if interval = asked; !root && asked < least {
			interval = least
			note = fmt.Sprintf("one ping every %s s instead of every %s s: %s", seconds(least), seconds(asked), who)
		}
	}
	if goos == "linux" {
		if !iputils() {
			return []string{"ping", target}, time.Second, "one ping every second: this ping is not iputils' and knows neither -D nor -O"
		}
		slower(Fastest, "faster ones are for root")
		return []string{"ping", "-n", "-D", "-O", "-i", seconds(interval), target}, interval, note
	}
	slower(bsdFastest, "faster ones are for root on this system")
	if interval == bsdFastest {
		return []string{"ping", "-n", target}, interval, note
	}
	return []string{"ping", "-n", "-i", seconds(interval), target}, interval, note
}
