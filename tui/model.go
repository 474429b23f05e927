package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"netwatch/tui/panes"
	"netwatch/tui/theme"
)

// noticeTime is how long a word about the last key stands in the footer.
const noticeTime = 5 * time.Second

// A model is the root: everything that is on the screen hangs off its frame.
type model struct {
	ctx     context.Context
	cfg     Config
	feed    *feed
	frame   panes.Frame
	w, h    int
	screen  string    // the last frame, as View hands it out
	ask     *question // what waits for an answer, or nil
	typing  *typing   // the newest question for a value, which may be over
	until   time.Time // when the notice goes
	turning string    // the knob whose turn is under way
	undos   []undone  // what U began, oldest first
	stopped bool      // the load was stopped by Ctrl-C
	loaded  bool      // the Logger was told that a run is on
	facts   time.Time // when the card was asked last what it is
	result  Result
}

func newModel(ctx context.Context, cfg Config) *model {
	t := theme.New(cfg.Theme)
	if cfg.Turner == nil && cfg.ReadOnly == "" {
		cfg.ReadOnly = "read only: nothing is turned"
	}
	return &model{
		ctx: ctx, cfg: cfg, feed: &feed{in: cfg.Feed},
		frame: panes.Frame{
			Session: cfg.Session, Theme: t, Stack: panes.NewStack(t),
			View: panes.View{Window: windows[startWindow], Bytes: cfg.Bytes},
			Host: cfg.Host, Facts: cfg.Facts, ReadOnly: cfg.ReadOnly,
		},
	}
}

// Init starts to listen. The first batch is shown as soon as it is there.
func (m *model) Init() tea.Cmd { return m.feed.collect(m.ctx, 0) }

// View hands out the frame that Update drew.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen)
	v.AltScreen = true
	return v
}

// Update takes one message, draws, and returns what is to be done elsewhere.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case newsMsg:
		cmd = m.news()
	case tea.KeyPressMsg:
		m.frame.Notice = ""
		cmd = m.key(msg.String())
	case tea.PasteMsg:
		m.paste(msg.Content)
	case factsMsg:
		m.frame.Facts = string(msg)
	case turnedMsg:
		m.turning = ""
		if msg.err != nil {
			m.notice(msg.err.Error())
		}
	case proposalMsg:
		m.askLog(msg)
	case loadMsg:
		if msg.err != nil {
			m.notice("the load did not start: " + msg.err.Error())
		}
	default:
		return m, nil
	}
	if l := m.cfg.Logger; l != nil {
		m.frame.Log = l.State()
	}
	m.frame.Prompt = panes.Prompt{}
	if m.ask != nil {
		m.frame.Prompt = m.ask.prompt
	}
	m.screen = panes.Screen(&m.frame, m.w, m.h)
	return m, cmd
}

// news applies what the feed collected and listens again until it ends.
func (m *model) news() tea.Cmd {
	got, ended := m.feed.take()
	for _, b := range got {
		m.cfg.Session.Apply(b)
		m.tellRefusals(b)
	}
	m.tellLogger()
	m.askAgain()
	if m.cfg.Session.Now().After(m.until) {
		m.frame.Notice = ""
	}
	if ended {
		m.frame.Ended = true
		return nil
	}
	return tea.Batch(m.feed.collect(m.ctx, frameTime), m.describe())
}

// factsEvery is how often a card is asked what it is: its speed and MTU may change.
const factsEvery = 5 * time.Second

type factsMsg string

// describe asks the card, away from the screen, once in a while and when its link is back.
func (m *model) describe() tea.Cmd {
	now := m.cfg.Session.Now()
	_, down := m.cfg.Session.LinkDown("")
	if down {
		m.facts = time.Time{}
	}
	if m.cfg.Describe == nil || down || now.Sub(m.facts) < factsEvery {
		return nil
	}
	m.facts = now
	tell := m.cfg.Describe
	return func() tea.Msg { return factsMsg(tell()) }
}

// notice puts a word about the last key into the footer.
func (m *model) notice(text string) {
	m.frame.Notice = text
	m.until = m.cfg.Session.Now().Add(noticeTime)
}
