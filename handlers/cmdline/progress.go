package cmdline

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"marginlab/ml/trace"
)

// progress is a line on a terminal that tells how far the work has come, again and again
// in the same place. It is no part of what a command prints: there is none where messages
// go to a file or another program.
type progress struct {
	w     io.Writer // nil: nobody looks
	now   func() time.Time
	start time.Time
	last  time.Time
	shown bool

	decline trace.Decline
}

// progressOn begins with the work. Short work shows nothing.
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

// tell shows a step of a solver, and about how long it still works.
func (p *progress) tell(s trace.Step) {
	after := p.now().Sub(p.start)
	p.decline.Note(after, s)
	left, ok := s.Left, s.Left > 0
	if !ok {
		left, ok = p.decline.Left()
	}
	if !ok || s.Machines > 0 {
		left = 0
	}
	p.show(s.Done, max(s.Rows, s.Trainings), left, s.String())
}

// cells shows how many cells are done and about how long the others take, if they are
// like them.
func (p *progress) cells() func(done, total int) {
	start := p.now()
	return func(done, total int) {
		p.show(done, total, trace.AtPace(p.now().Sub(start), done, total-done), fmt.Sprintf("%d of %d cells", done, total))
	}
}

// bar is a picture of a share.
func bar(done, total int) string {
	const width = 16
	n := width * min(done, total) / max(total, 1)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// show shows how far it is, at most twice a second: a bar, unless total is 0, the time left,
// unless that is 0, and a text. What a narrow terminal has no room for is cut off.
func (p *progress) show(done, total int, left time.Duration, text string) {
	now := p.now()
	if p.w == nil || now.Sub(p.last) < time.Second/2 {
		return
	}
	p.last, p.shown = now, true
	if left > 0 {
		text = "about " + rough(left) + " left, " + text
	}
	if total > 0 {
		text = bar(done, total) + " " + text
	}
	fmt.Fprintf(p.w, "\r\x1b[K\x1b[?7l%s\x1b[?7h", text) // a line that went on in the next would stay there
}

// rough is a time for reading: to the second, or to the minute of long ones.
func rough(d time.Duration) string {
	if d < 2*time.Minute {
		return max(d.Round(time.Second), time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// end takes the line away.
func (p *progress) end() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
