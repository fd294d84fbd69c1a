package lessons

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// New completes a lesson from its files: guide.md, parsed by newGuide, and words.md, which is
// Markdown:
//
//	# Title of the lesson
//
//	Summary, plain text.
//
//	? What the lesson asks of the moons, plain text.
//
//	## Title of a screen {#slug covers="001 3.2, 002 slack"}
//
//	Words of the screen: paragraphs, lists, numbered lists, *emphasis*, formulas as
//	$x^2$ or, on a line of their own,
//
//	$$\sum_i \alpha_i y_i = 0$$
//
//	~A hint for the screen, where pictures move: it is not printed.~
//
//	### A heading within the screen
//
//	The current value of a control of the screen, here gamma: {gamma}. It can be dragged.
//
//	> A slip: where a lecture document errs, and the correction.
//
//	---
//
//	Text that gives away the answers to the screen's questions: it follows them, and on a
//	live page it is folded until they are answered.
//
//	? {#slug} A question with options. Each of its parts is one line.
//	- An option. Stored answers refer to its position: keep the order, append new ones.
//	- A wrong one.
//	  - The misconception behind it.
//	= Why the right option is right; Screen.Answers computes which one it is.
//
//	? {#slug within=0.05 before=line} A question that asks for a number or a drawing.
//	= Why: %s is replaced by the answer.
//
// with a second-level heading for every screen of the lesson, in order. Nothing else is supported;
// HTML is shown as text. Lines indented by four spaces are an error outside lists. Text is rendered
// once, when first shown; rendering returns the errors of a screen's text, and Check those of
// headings and questions.
func New(files fs.FS, l Lesson) *Lesson {
	words, err := fs.ReadFile(files, "words.md")
	guide, err2 := fs.ReadFile(files, "guide.md")
	l.wrong = errors.Join(err, err2)
	l.Guide = newGuide(string(guide))
	return l.with(string(words))
}

func (l Lesson) with(words string) *Lesson {
	at := 0 // current line, from 0
	fail := func(format string, args ...any) {
		l.wrong = errors.Join(l.wrong, fmt.Errorf("the lesson %s, words.md:%d: %s", l.Slug, at+1, fmt.Sprintf(format, args...)))
	}
	lines := strings.Split(words, "\n")
	headings := lists.Where(len(lines), func(i int) bool { return strings.HasPrefix(lines[i], "## ") })
	end := func(k int) int { // returns the end of the lines of a screen; -1: of those before all screens
		if k+1 < len(headings) {
			return headings[k+1]
		}
		return len(lines)
	}
	title, summary, _ := strings.Cut(strings.TrimSpace(strings.Join(lines[:end(-1)], "\n")), "\n")
	var ok bool
	if l.Title, ok = strings.CutPrefix(title, "# "); !ok {
		fail("the words begin with %q; start with \"# \" and the title", title)
	}
	l.Summary, l.Puzzle, _ = strings.Cut(strings.TrimSpace(summary), "\n\n? ")
	for i := range l.Screens {
		s := &l.Screens[i]
		source := ""
		if i < len(headings) {
			at = headings[i]
			heading := screenHeading().FindStringSubmatch(lines[at])
			switch {
			case heading == nil:
				fail("the heading is %q; write \"## Title {#slug}\" or \"## Title {#slug covers=\"001 3.2\"}\"", lines[at])
			case heading[2] != s.Slug:
				fail("words for the screen %s stand where the screen %s stands; bring both into one order", heading[2], s.Slug)
			default:
				s.Title = heading[1]
				if heading[3] != "" {
					s.Covers = strings.Split(heading[3], ", ")
				}
			}
			first := at + 1
			for at = first; at < end(i) && !strings.HasPrefix(lines[at], "? "); at++ {
			}
			source = strings.Join(lines[first:at], "\n")
			s.ask(lines[:end(i)], &at, fail)
		}
		s.write(l.Slug+"/"+s.Slug, source)
	}
	if at = len(lines) - 1; len(headings) != len(l.Screens) {
		fail("the lesson has %d screens and words for %d", len(l.Screens), len(headings))
	}
	return &l
}

// Check returns the errors in the headings and questions of the lesson's text.
func (l *Lesson) Check() error { return l.wrong }

var (
	screenHeading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^## (\S.*) \{#([a-z0-9-]+)(?: covers="([^"]+)")?\}$`)
	})
	questionStart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\? \{#([a-z0-9-]+)(?: within=(\S+))?(?: before=([a-z0-9-]+))?\} (\S.*)$`)
	})
	questionOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^( *)- (\S.*)$`) })
)

// ask reads the questions of a screen, starting at line at.
func (s *Screen) ask(lines []string, at *int, fail func(format string, args ...any)) {
	for ; *at < len(lines); *at++ {
		line := lines[*at]
		if start := questionStart().FindStringSubmatch(line); start != nil {
			q := Question{Slug: start[1], Before: start[3], Ask: start[4], Answer: s.Answers[start[1]], Sketch: s.Sketches[start[1]]}
			if start[2] != "" {
				var err error
				if q.Within, err = strconv.ParseFloat(start[2], 64); err != nil || !(q.Within > 0) {
					fail("%s is within %q, which is not a fraction such as 0.05", q.Slug, start[2])
				}
			}
			if s.Question(q.Slug) != nil {
				fail("the screen %s has two questions %s; give the second one another name", s.Slug, q.Slug)
			}
			if (q.Answer == nil) == (q.Sketch == nil) {
				fail("the question %s needs an entry in Answers or in Sketches of the screen %s", q.Slug, s.Slug)
			}
			s.Questions = append(s.Questions, q)
			continue
		}
		var q *Question
		if len(s.Questions) > 0 {
			q = &s.Questions[len(s.Questions)-1]
		}
		option := questionOption().FindStringSubmatch(line)
		switch why, ok := strings.CutPrefix(line, "= "); {
		case strings.TrimSpace(line) == "":
		case q != nil && ok && q.Explain == "":
			q.Explain = why
		case q != nil && option != nil && option[1] == "" && q.Explain == "":
			q.Options, q.Wrong = append(q.Options, option[2]), append(q.Wrong, "")
		case q != nil && option != nil && option[1] == "  " && q.Explain == "" && len(q.Options) > 0 && q.Wrong[len(q.Wrong)-1] == "":
			q.Wrong[len(q.Wrong)-1] = option[2]
		default:
			fail("%q belongs to no question; write \"? {#slug} The question\", \"- An option\", \"  - Its misconception\", \"= Why\"", line)
		}
	}
	*at--
	for _, q := range s.Questions {
		if q.Explain == "" || len(q.Options) == 1 || q.Sketch != nil && q.Options != nil {
			fail("the question %s of the screen %s has %d options and the explanation %q; it needs an explanation, and two options or none, none for a drawing", q.Slug, s.Slug, len(q.Options), q.Explain)
		}
	}
	if n := len(s.Answers) + len(s.Sketches); n > len(s.Questions) {
		fail("the screen %s has %d answers and %d questions", s.Slug, n, len(s.Questions))
	}
}

// write sets the words of a screen from their source; where names the screen in errors.
func (s *Screen) write(where, source string) {
	before, after, folded := strings.Cut(source, "\n---\n")
	rendered := func(source string) func() templ.Component {
		render := sync.OnceValues(func() (string, error) {
			words, err := renderWords(where, source)
			var missing error
			words = withValues(words, func(control string) string {
				if s.Demo != nil {
					if p, ok := lists.Find(s.Demo.Params(), func(p param.Param) bool { return p.Name == control }); ok {
						return p.Default
					}
				}
				missing = fmt.Errorf("the words of the screen %s: it has no control %q", where, control)
				return ""
			})
			return words, errors.Join(err, missing)
		})
		return func() templ.Component { return templ.Raw(render()) }
	}
	s.Words, s.Lead = rendered(before), rendered(firstSentence(before))
	if folded {
		s.After = rendered(after)
	}
}
