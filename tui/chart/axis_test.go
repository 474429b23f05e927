package chart

import (
	"testing"
	"time"
)

func TestAxis(t *testing.T) {
	tests := []struct {
		window time.Duration
		cells  int
		ascii  bool
		step   time.Duration
	}{
		{time.Minute, 58, false, 600 * time.Millisecond},
		{time.Minute, 58, true, 1200 * time.Millisecond},
		{30 * time.Second, 58, false, 300 * time.Millisecond},
		{time.Hour, 58, false, 32 * 1000 * time.Millisecond},
		{time.Minute, 0, false, 32 * 1000 * time.Millisecond},
		{time.Second, 500, false, 100 * time.Millisecond},
	}
	for _, c := range tests {
		a := NewAxis(t0, c.window, c.cells, c.ascii)
		if a.Step != c.step {
			t.Errorf("%v in %d cells: step %v, want %v", c.window, c.cells, a.Step, c.step)
		}
		if got := a.End().Sub(a.From); got < c.window {
			t.Errorf("%v in %d cells: covers only %v", c.window, c.cells, got)
		}
	}
}

// TestAxisScrollsByCells moves the end in steps of 100 ms: a time stays in its
// cell until everything moves by one, and the end is always in the last cell.
func TestAxisScrollsByCells(t *testing.T) {
	mark := t0.Add(-17 * time.Second)
	last := NewAxis(t0, time.Minute, 58, false)
	for i := range 100 {
		end := t0.Add(time.Duration(i) * 100 * time.Millisecond)
		a := NewAxis(end, time.Minute, 58, false)
		moved := a.From.Sub(last.From)
		if moved != 0 && moved != 2*a.Step {
			t.Fatalf("moved by %v", moved)
		}
		if got, want := a.Cell(mark), last.Cell(mark)-int(moved/(2*a.Step)); got != want {
			t.Fatalf("the mark is in cell %d, want %d", got, want)
		}
		if got := a.Cell(end); got != 57 {
			t.Fatalf("the end is in cell %d", got)
		}
		last = a
	}
}

func TestTick(t *testing.T) {
	a := NewAxis(t0, time.Minute, 58, false) // a cell is 1.2 s
	if got := a.Tick(12); got != 20*time.Second {
		t.Errorf("labels 12 cells apart every %v, want 20 s", got)
	}
	if got := NewAxis(t0, time.Hour, 10, false).Tick(12); got != time.Hour {
		t.Errorf("got %v, want the longest", got)
	}
}
