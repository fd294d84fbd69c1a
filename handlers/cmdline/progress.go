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
	text := s.String()
	if total := max(s.Rows, s.Trainings); total > 0 {
		text = bar(s.Done, total) + " " + text
	}
	left, ok := s.Left, s.Left > 0
	if !ok {
		left, ok = p.decline.Left()
	}
	if ok && s.Machines == 0 {
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	p.show(text)
}

// cells shows how many cells are done and about how long the others take, if they are
// like them.
func (p *progress) cells() func(done, total int) {
	start := p.now()
	return func(done, total int) {
		left := p.now().Sub(start) * time.Duration(total-done) / time.Duration(done)
		p.show(fmt.Sprintf("%s %d of %d cells, about %s left", bar(done, total), done, total, left.Round(time.Second)))
	}
}

// bar is a picture of a share.
func bar(done, total int) string {
	const width = 24
	n := width * min(done, total) / max(total, 1)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// show shows how far it is, at most twice a second.
func (p *progress) show(s string) {
	if now := p.now(); p.w != nil && now.Sub(p.last) >= time.Second/2 {
		p.last, p.shown = now, true
		fmt.Fprintf(p.w, "\r\x1b[K%s", s)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
