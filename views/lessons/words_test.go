package lessons

import (
	"reflect"
	"strings"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// screens are screens with these slugs.
func screens(slugs ...string) (all []Screen) {
	return lists.Map(slugs, func(s string) Screen { return Screen{Slug: s} })
}

func TestNew(t *testing.T) {
	t.Parallel()
	l := Lesson{Slug: "kernels", Carry: true, Screens: screens("one", "two-2")}.with("# Kernels\n\nWhat they do.\n\n## The first {#one}\n\nWords.\n\n## R & D, {braces} {#two-2}\n\nMore.\n")
	require.NoError(t, l.Check())
	require.Check(t, l.Title == "Kernels" && l.Summary == "What they do." && l.Carry && l.Screens[0].Title == "The first" && l.Screens[1].Title == "R & D, {braces}",
		"%+v", l)
	for i, want := range []string{"<p>Words.</p>", "<p>More.</p>"} {
		got, err := rendered(t, l.Screens[i].Words())
		require.Check(t, err == nil && strings.TrimSpace(got) == want, "screen %d: %q, %v; want %q", i, got, err, want)
	}
}

func TestNewFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ words, want string }{
		"no title":            {"Kernels\n\n## A {#a}\n\nx\n\n## B {#b}\n\ny\n", "words.md:1: the words begin"},
		"empty":               {"", "words.md:1: the words begin"},
		"no slug":             {"# K\n\n## A\n\nx\n\n## B {#b}\n\ny\n", "words.md:3: the heading is \"## A\"; write"},
		"another order":       {"# K\n\n## B {#b}\n\nx\n\n## A {#a}\n\ny\n", "words.md:7: words for the screen a stand where the screen b stands"},
		"a screen too few":    {"# K\n\n## A {#a}\n\nx\n", "2 screens and words for 1"},
		"words too many":      {"# K\n\n## A {#a}\n\nx\n\n## B {#b}\n\ny\n\n## C {#c}\n\nz\n", "2 screens and words for 3"},
		"the first only once": {"# K\n\n## A {#a}\n\nx\n\n## A {#a}\n\ny\n", "one order"},
	} {
		l := Lesson{Slug: "kernels", Screens: screens("a", "b")}.with(c.words)
		err := l.Check()
		require.Check(t, err != nil && strings.Contains(err.Error(), c.want) && strings.Contains(err.Error(), "kernels"), "%s: %v, want one with %q", name, err, c.want)
		for _, s := range l.Screens { // shown or refused, but never a panic
			_, _ = rendered(t, s.Words())
		}
	}
}

// asking is a lesson with one screen, whose questions a number, a choice and a drawing answer.
func asking(questions string) *Lesson {
	return Lesson{Slug: "kernels", Screens: []Screen{{
		Slug: "a", Answers: map[string]Answer{"n": Is(2), "pick": Is(1)}, Sketches: map[string]*Sketch{"draw": {}},
	}}}.with("# K\n\n## A {#a}\n\nWords.\n\n---\n\nAfter.\n\n" + questions)
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	l := asking("? {#n within=0.05 before=line} How many? {x}\n\n= It is %s.\n? {#pick} Which?\n- One.\n  - Not that.\n- Two.\n= So.\n\n? {#draw} Draw.\n= Flat.\n")
	require.NoError(t, l.Check())
	got := l.Screens[0].Questions
	for i, want := range []Question{
		{Slug: "n", Ask: "How many? {x}", Within: 0.05, Before: "line", Explain: "It is %s."},
		{Slug: "pick", Ask: "Which?", Options: []string{"One.", "Two."}, Wrong: []string{"Not that.", ""}, Explain: "So."},
		{Slug: "draw", Ask: "Draw.", Sketch: l.Screens[0].Sketches["draw"], Explain: "Flat."},
	} {
		q := got[i]
		q.Answer = nil
		require.Check(t, reflect.DeepEqual(q, want), "%+v, want %+v", q, want)
	}
	require.Equal(t, require.Value(got[1].Solve(t.Context()))(t).Value, 1, "the answer of the second")
	after := require.Value(rendered(t, l.Screens[0].After()))(t)
	require.Equal(t, strings.TrimSpace(after), "<p>After.</p>", "what comes after the answers")
}

func TestQuestionsFindWhatIsWrong(t *testing.T) {
	t.Parallel()
	const n, pick, draw = "? {#n} N?\n= Yes.\n", "? {#pick} P?\n- a\n- b\n= Yes.\n", "? {#draw} D?\n= Yes.\n"
	for questions, want := range map[string]string{
		n + pick:                                 "the screen a has 3 answers and 2 questions",
		n + n + pick + draw:                      "words.md:13: the screen a has two questions n",
		n + pick + draw + "? {#x} X?\n= Yes.\n":  "words.md:19: the question x needs an entry in Answers",
		"? {#n} N?\n" + pick + draw:              "the question n of the screen a has 0 options and the explanation \"\"",
		"? {#n} N?\n- a\n= Yes.\n" + pick + draw: "the question n of the screen a has 1 options",
		"? {#draw} D?\n- a\n- b\n= Yes.\n":       "none for a drawing",
		"? {#n within=wide} N?\n= Yes.\n":        "words.md:11: n is within \"wide\"",
		"? {#n within=-1} N?\n= Yes.\n":          "words.md:11: n is within \"-1\"",
		"? N?\n= Yes.\n":                         "words.md:11: \"? N?\" belongs to no question",
		"? {#N} N?\n= Yes.\n":                    "words.md:11: \"? {#N} N?\" belongs",
		"? {#pick} P?\n  - m\n- a\n- b\n= Yes.":  "words.md:12: \"  - m\" belongs",
		"? {#pick} P?\n- a\n  - m\n  - m\n- b\n": "words.md:14: \"  - m\" belongs",
		"? {#pick} P?\n- a\n- b\n= Yes.\n- c\n":  "words.md:15: \"- c\" belongs",
		"? {#n} N?\n= Yes.\n= No.\n":             "words.md:13: \"= No.\" belongs",
		"? {#n} N?\nmore\n= Yes.\n":              "words.md:12: \"more\" belongs",
	} {
		err := asking(questions).Check()
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%q: %v, want %q", questions, err, want)
	}
}

// Accepted words have whole questions; others are refused with the file and the line.
func FuzzNew(f *testing.F) {
	for _, s := range []string{"? {#n} N?\n= Yes.\n", "? {#pick} P?\n- a\n  - m\n- b\n= Yes.\n? {#draw} D?\n= Yes.", "## B {#b covers=\"\"}\n? x", "?", "? {#n within=NaN} N?\r\n= ", "\n---\n---\n? {#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l := asking(s)
		if err := l.Check(); err != nil {
			require.Check(t, strings.Contains(err.Error(), "words.md:"), "%q: %v", s, err)
			return
		}
		for _, q := range l.Screens[0].Questions {
			require.Check(t, q.Slug != "" && q.Ask != "" && q.Explain != "" && len(q.Options) == len(q.Wrong) && (q.Answer == nil) != (q.Sketch == nil) && q.Within >= 0,
				"%q has the question %+v", s, q)
		}
	})
}
