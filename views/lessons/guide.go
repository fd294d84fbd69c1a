package lessons

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Guide holds notes for the teacher of a lesson. Its texts are Texts.
type Guide struct {
	Aims    []string // learning outcomes
	Screens []GuideScreen

	wrong error // errors found by newGuide
}

// GuideScreen holds the notes for teaching a screen.
type GuideScreen struct {
	Slug          string
	Minutes       int
	Spare         bool   // left out of a lecture of 45 minutes
	Do            string // what to drag, step through and ask
	Misconception string // common misconception
}

// newGuide reads a guide:
//
//   - An aim
//
//   - Another aim
//
//     ## slug, 6 min
//
//     Do: What to drag and to step.
//
//     Misconception: What students think instead.
//
// with a heading for every screen of the lesson, in order; ", spare" at its end marks a screen
// that a lecture of 45 minutes can skip. Paragraphs and aims are one line each. Lesson.CheckGuide
// returns the errors.
func newGuide(text string) Guide {
	var g Guide
	fail := func(format string, args ...any) { g.wrong = errors.Join(g.wrong, fmt.Errorf(format, args...)) }
	var at *GuideScreen
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if head, ok := strings.CutPrefix(line, "## "); ok {
			head, spare := strings.CutSuffix(head, ", spare")
			slug, minutes, _ := strings.Cut(head, ", ")
			n, err := strconv.Atoi(strings.TrimSuffix(minutes, " min"))
			if err != nil || n < 1 {
				fail("the guide has the heading %q; write \"## slug, 6 min\"", head)
			}
			g.Screens = append(g.Screens, GuideScreen{Slug: slug, Minutes: n, Spare: spare})
			at = &g.Screens[len(g.Screens)-1]
			continue
		}
		name, what, _ := strings.Cut(line, " ")
		what = strings.TrimSpace(what)
		switch {
		case at == nil && name == "-":
			g.Aims = append(g.Aims, what)
		case at != nil && name == "Do:" && at.Do == "":
			at.Do = what
		case at != nil && name == "Misconception:" && at.Misconception == "":
			at.Misconception = what
		default:
			fail("the guide has a line %q where none of the kind is expected", line)
		}
	}
	return g
}

// CheckGuide returns the errors of the lesson's guide.
func (l *Lesson) CheckGuide() error {
	g := l.Guide
	if len(g.Aims) == 0 {
		return fmt.Errorf("the guide of the lesson %s has no aims", l.Slug)
	}
	for i, s := range l.Screens {
		if i >= len(g.Screens) || g.Screens[i].Slug != s.Slug {
			return fmt.Errorf("the guide of the lesson %s does not have the screen %s at place %d", l.Slug, s.Slug, i+1)
		}
		if g.Screens[i].Do == "" || g.Screens[i].Misconception == "" {
			return fmt.Errorf("the guide of the lesson %s says too little of the screen %s", l.Slug, s.Slug)
		}
	}
	if len(g.Screens) > len(l.Screens) {
		return fmt.Errorf("the guide of the lesson %s has screens that the lesson has not", l.Slug)
	}
	if all, short := g.Minutes(), g.Short(); all > 90 || short > 45 {
		return errors.Join(g.wrong, fmt.Errorf("the guide of the lesson %s has %d minutes, %d without what is spare; a lecture has 90 or 45", l.Slug, all, short))
	}
	return g.wrong
}

// Minutes returns the time that all screens take.
func (g Guide) Minutes() (sum int) {
	for _, s := range g.Screens {
		sum += s.Minutes
	}
	return sum
}

// Short returns the time that all screens take except the spare ones.
func (g Guide) Short() (sum int) {
	for _, s := range g.Screens {
		if !s.Spare {
			sum += s.Minutes
		}
	}
	return sum
}
