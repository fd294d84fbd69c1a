package cmdline

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"marginlab/ml/trace"
)

// progress is a line on a terminal, updated in place, that shows the progress of a command. Nothing
// is printed if messages do not go to a terminal.
type progress struct {
	w     io.Writer // nil: not a terminal
	now   func() time.Time
	start time.Time
	last  time.Time
	shown bool

	decline trace.Decline
}

// progressOn starts showing progress. Short work shows none.
func progressOn(std Streams) *progress {
	now := time.Now()
	p := &progress{now: time.Now, start: now, last: now}
	if isTerminal(std.Err) {
		p.w = std.Err
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tell shows a step of a solver and the estimated time left.
func (p *progress) tell(s trace.Step) {
	p.decline.Note(p.now().Sub(p.start), s)
	left, ok := s.Left, s.Left > 0
	if !ok {
		left, ok = p.decline.Left()
	}
	if !ok || s.Machines > 0 {
		left = 0
	}
	p.show(s.Done, max(s.Rows, s.Trainings), left, s.String())
}

// cells returns a function that shows how many cells are done, with the estimated remaining time.
func (p *progress) cells() func(done, total int) {
	start := p.now()
	return func(done, total int) {
		p.show(done, total, trace.AtPace(p.now().Sub(start), done, total-done), fmt.Sprintf("%d of %d cells", done, total))
	}
}

func bar(done, total int) string {
	const width = 16
	n := width * min(done, total) / max(total, 1)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// show shows progress, at most twice a second: a bar if total is not 0, the time left if not 0,
// and a text. Narrow terminals truncate it.
func (p *progress) show(done, total int, left time.Duration, text string) {
	now := p.now()
	if p.w == nil || now.Sub(p.last) < time.Second/2 {
		return
	}
	p.last, p.shown = now, true
	if left > 0 {
		text = "About " + rough(left) + " left. " + text
	}
	if total > 0 {
		text = bar(done, total) + " " + text
	}
	fmt.Fprintf(p.w, "\r\x1b[K\x1b[?7l%s\x1b[?7h", text) // do not wrap: the next update could not erase a second line
}

// rough formats a duration to the second, or to the minute if long.
func rough(d time.Duration) string {
	if d < 2*time.Minute {
		return max(d.Round(time.Second), time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// end erases the line.
func (p *progress) end() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
