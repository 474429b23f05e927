package panes

import (
	"slices"
	"strconv"
	"strings"

	"netwatch/experiment"
	"netwatch/sources"
	"netwatch/tui/theme"
)

// ResetWords warn of a turn that takes the link down.
const ResetWords = "the link will drop for seconds"

// knobsPage lists every knob with its values; below the selected one stands what
// a person should know before turning it, in as many rows as there are.
func knobsPage(f *Frame, g theme.Grid) {
	knobs := f.Session.Knobs()
	if len(knobs) == 0 {
		g.Text(1, 1, theme.Dim, "no knob is known yet")
		return
	}
	row := max(min(f.View.Row, len(knobs)-1), 0)
	y := 0
	if f.ReadOnly != "" {
		g.Text(1, y, theme.Warn, f.ReadOnly)
		y++
	}
	details := knobDetails(knobs[row], g.W()-detailsAt)
	room := max(g.H()-y-1, 0)
	hidden := max(len(details)-room, 0)
	above := min(f.View.Detail, hidden)
	details = details[above:]
	from := max(0, row-max(room-len(details), 0))
	for i, k := range knobs[from:] {
		knobRow(f, g, y, k)
		y++
		if from+i != row {
			continue
		}
		if below := hidden - above; below > 0 {
			g.Right(g.W(), y-1, theme.Selected, "  j +"+strconv.Itoa(below))
		}
		g.Tint(y-1, theme.Selected)
		for _, d := range details {
			g.Text(detailsAt, y, d.ink, d.text)
			y++
		}
	}
}

// LastDetail is how far what is told of the selected knob can be scrolled on a screen of
// a size, 0 where all of it is there.
func LastDetail(f *Frame, w, h int) int {
	knobs := f.Session.Knobs()
	if f.View.Page != Knobs || len(knobs) == 0 {
		return 0
	}
	room := h - 4 - knobRows(f, w, h)
	if f.ReadOnly != "" {
		room--
	}
	details := knobDetails(knobs[max(min(f.View.Row, len(knobs)-1), 0)], w-detailsAt)
	return max(len(details)-max(room, 0), 0)
}

func knobRow(f *Frame, g theme.Grid, y int, k *experiment.KnobState) {
	ink := theme.Plain
	switch {
	case k.Spec.Locked != "" || f.ReadOnly != "":
		ink = theme.Dim
	case k.From() != "":
		ink = theme.Turn
	}
	if key := KnobKeys[k.Spec.Name]; key != "" {
		g.Text(1, y, ink, "["+key+"]")
	}
	x := max(24, g.Text(detailsAt, y, ink, knobText(k))+2)
	if from := k.From(); from != "" {
		x = g.Text(x, y, ink, "start "+from) + 2
	}
	x = g.Text(max(x, 36), y, ink, values(k, false)) + 2
	if k.Spec.Locked != "" {
		g.Text(x, y, ink, "locked")
	}
}

// detailsAt is the column of a knob's name and of what is told of it.
const detailsAt = 5

// A detail is a row below the selected knob.
type detail struct {
	ink  theme.Ink
	text string
}

// knobDetails is what to know of a knob, in rows of w cells.
func knobDetails(k *experiment.KnobState, w int) []detail {
	var rows []detail
	tell := func(ink theme.Ink, text string) {
		for _, row := range theme.FoldWhole(text, w) {
			rows = append(rows, detail{ink, row})
		}
	}
	if len(k.Spec.Meanings) > 0 {
		tell(theme.Plain, values(k, true))
	}
	if k.Spec.Locked != "" {
		tell(theme.Warn, "locked: "+k.Spec.Locked)
	}
	if k.Spec.Disruption == sources.LinkReset {
		tell(theme.Warn, "a turn resets the card: "+ResetWords+after("; ", k.Spec.Note))
	} else if k.Spec.Note != "" {
		tell(theme.Dim, k.Spec.Note)
	}
	if k.Spec.Command != "" {
		tell(theme.Dim, "by hand: "+byHand(k))
	}
	return rows
}

// values is "0 [1] 2", with the meaning of each when asked: "0 off  [1] bulk".
func values(k *experiment.KnobState, meanings bool) string {
	return list(k, k.Spec.Values, meanings)
}

// choices are values that a digit picks: those that are none carry theirs,
// "0:off [1:on]".
func choices(k *experiment.KnobState, meanings bool) string {
	texts := slices.Clone(k.Spec.Values)
	for i, v := range texts {
		if len(v) != 1 {
			texts[i] = strconv.Itoa(i) + ":" + v
		}
	}
	return list(k, texts, meanings)
}

func list(k *experiment.KnobState, texts []string, meanings bool) string {
	var out []string
	for i, v := range k.Spec.Values {
		text, meaning := texts[i], ""
		if v == k.Value {
			text = "[" + text + "]"
		}
		if meanings && i < len(k.Spec.Meanings) {
			meaning = after(" ", k.Spec.Meanings[i])
		}
		out = append(out, text+meaning)
	}
	if meanings {
		return strings.Join(out, "  ")
	}
	return strings.Join(out, " ")
}

// ByDigit is the value that a digit key picks: the digit itself where the kernel's
// values are digits, else the one at that place in the list.
func ByDigit(k *experiment.KnobState, key string) (value string, ok bool) {
	if slices.Contains(k.Spec.Values, key) {
		return key, true
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(k.Spec.Values) || len(k.Spec.Values[i]) == 1 {
		return "", false
	}
	return k.Spec.Values[i], true
}

// Choose is the question which value a knob shall have.
func Choose(k *experiment.KnobState) Prompt {
	return Prompt{
		Long:  k.Spec.Name + "  " + choices(k, true) + "   a digit turns it, Esc leaves",
		Short: k.Spec.Name + " " + choices(k, false) + " digit, Esc",
	}
}

// Confirm is the question whether a turn that drops the link is meant. The short form
// begins with the keys: what is cut off is never how to answer.
func Confirm(k *experiment.KnobState, value string) Prompt {
	turn := k.Spec.Name + " " + k.Value + " -> " + value
	return Prompt{
		Long:  turn + ": " + ResetWords + ". Enter turns it, Esc leaves",
		Short: "Enter/Esc: " + turn + " drops link",
	}
}

// LockedWords say why a knob cannot be turned here, and what a person would type.
func LockedWords(k *experiment.KnobState) string {
	text := k.Spec.Name + " is locked: " + k.Spec.Locked
	if k.Host != "" {
		text = k.Host + " " + text
	}
	if k.Spec.Command != "" {
		text += "; by hand: " + byHand(k)
	}
	return text
}

// byHand is what a person would type: with the other value where there are two.
func byHand(k *experiment.KnobState) string {
	value := "VALUE"
	if v := k.Spec.Values; len(v) == 2 && (k.Value == v[0] || k.Value == v[1]) {
		value = v[0]
		if k.Value == v[0] {
			value = v[1]
		}
	}
	return strings.ReplaceAll(k.Spec.Command, "%s", value)
}

// OwnLink is the second question where the terminal hangs on the link that drops.
var OwnLink = Prompt{
	Long:  "this terminal hangs on that link: Enter again turns it, Esc leaves",
	Short: "your own link! Enter/Esc",
}

// RestoreAll is the question whether putting back is worth a dropped link.
func RestoreAll(pending []string) Prompt {
	return Prompt{
		Long:  "put back " + strings.Join(pending, ", ") + ": " + ResetWords + ". Enter does it, Esc leaves",
		Short: "restore all drops link: Enter/Esc",
	}
}

// ProposeLog asks whether the next run shall be logged.
func ProposeLog(words, brief string) Prompt {
	return Prompt{
		Long:  words + ".  Enter: the next run, S: now and on, Esc",
		Short: brief + ": Enter next run, S on, Esc",
	}
}

// EndLog asks whether what is under way shall end.
func EndLog(state string) Prompt {
	return Prompt{
		Long:  state + ".  Enter ends it, S leaves it on, Esc",
		Short: "log: Enter ends it, S on, Esc",
	}
}
