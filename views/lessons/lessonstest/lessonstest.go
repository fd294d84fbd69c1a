// Package lessonstest holds helpers shared by the tests of all lessons.
package lessonstest

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

// Builtins is an empty workspace with the built-in data.
type Builtins struct{}

// Data loads a built-in data set.
func (Builtins) Data(_ context.Context, id string) (string, *dataset.Data, error) {
	b, ok := dataset.FindBuiltin(id)
	if !ok {
		return "", nil, errors.New("no such data")
	}
	d, err := b.Load()
	return b.Name, d, err
}

// Run returns an error.
func (Builtins) Run(context.Context, string) (*lessons.Run, error) {
	return nil, errors.New("no such run")
}

// shown caches the exhibits of Show.
var shown lessons.Memo[string, *lessons.Exhibit]

// Show returns the exhibit of a screen for the given control values, as pairs of name and value.
func Show(t *testing.T, l *lessons.Lesson, screen string, pairs ...string) *lessons.Exhibit {
	t.Helper()
	s, in := asked(t, l, screen, pairs)
	key, _, _ := in.Key()
	return shown.Get(l.Slug+"/"+screen+key, func() *lessons.Exhibit {
		return require.Value(s.Demo.Show(context.WithoutCancel(t.Context()), in))(t)
	})
}

// ShowAnew is Show without the cache.
func ShowAnew(t *testing.T, l *lessons.Lesson, screen string, pairs ...string) *lessons.Exhibit {
	t.Helper()
	s, in := asked(t, l, screen, pairs)
	return require.Value(s.Demo.Show(t.Context(), in))(t)
}

func asked(t *testing.T, l *lessons.Lesson, screen string, pairs []string) (*lessons.Screen, lessons.Input) {
	t.Helper()
	s, _ := l.Screen(screen)
	require.Must(t, s != nil, "no screen %s", screen)
	form := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form[pairs[i]] = pairs[i+1]
	}
	in, wrong := s.Demo.NewInput(func(name string) string { return form[name] }, Builtins{})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return s, in
}

// Number returns the value of the number with the given label.
func Number(t *testing.T, e *lessons.Exhibit, label string) string {
	t.Helper()
	for _, n := range e.Numbers {
		if n.Label == label {
			return n.Value
		}
	}
	t.Fatalf("no number is called %q: %v", label, e.Numbers)
	return ""
}

// Value reads a number as an exhibit shows it, with or without a percent sign.
func Value(t *testing.T, text string) float64 {
	t.Helper()
	return require.Value(lessons.ReadNumber(strings.TrimSuffix(text, " %")))(t)
}

// Near fails the test if got differs from want by more than rel times max(1, |want|).
func Near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	require.Check(t, math.Abs(got-want) <= rel*math.Max(1, math.Abs(want)), "%s = %.12g, want %.12g", what, got, want)
}

// texts returns all texts of an exhibit that may contain formulas.
func texts(e *lessons.Exhibit) (all []string) {
	all = lists.Map(e.Figures, func(f lessons.Figure) string { return f.Caption })
	for _, n := range e.Numbers {
		all = append(all, n.Label, n.Value, n.Help)
	}
	for _, t := range e.Tables {
		all = append(slices.Concat(all, t.Head, slices.Concat(t.Rows...)), t.Caption)
	}
	return slices.Concat(all, e.Notes, e.After)
}

// source matches text that occurs only in the source of a formula: commands, sub- and superscripts.
var source = regexp.MustCompile(`\\|\^|\b[A-Za-z]_|[α-ωΑ-Ω]_|\b(alpha|beta|gamma|lambda|sigma|delta|eta|rho)\b`)

// checkWords fails the test if a text shown or spoken verbatim contains the source of a formula.
func checkWords(t *testing.T, what, text string) {
	t.Helper()
	found := source.FindString(text)
	require.Check(t, found == "", "%s: %q holds %q, the source of a formula", what, text, found)
}

// CheckLabels looks for formula sources in the texts around a screen's exhibit: its title, the
// names of its controls and options, and its questions as read by a screen reader.
func CheckLabels(t *testing.T, s *lessons.Screen) {
	t.Helper()
	checkWords(t, "title", s.Title)
	if s.Demo != nil {
		for _, p := range s.Demo.Params() {
			said := []string{p.Label, p.Help} // not the symbol, whose index is set as a subscript
			for _, o := range p.Options {
				said = append(said, o.Label)
			}
			for _, words := range said {
				checkWords(t, "control "+p.Name, words)
			}
		}
	}
	for _, q := range s.Questions {
		for _, words := range append([]string{q.Ask, q.Explain}, q.Options...) {
			checkWords(t, "question "+q.Slug, lessons.Spoken(words))
		}
	}
}

// written matches text in a picture.
var written = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)

// CheckWritten draws every figure and looks for formula sources in its text.
func CheckWritten(t *testing.T, e *lessons.Exhibit) {
	t.Helper()
	for _, f := range e.Figures {
		p, err := f.Draw(lessons.Look{Width: 360, Height: 280, Coarse: true})
		require.Must(t, err == nil, "figure %s: %v", f.Name, err)
		var svg strings.Builder
		if err := p.SVG(t.Context(), &svg); err != nil {
			t.Errorf("figure %s: %v", f.Name, err)
		}
		for _, w := range written.FindAllStringSubmatch(svg.String(), -1) {
			checkWords(t, "written in "+f.Name, w[1])
		}
	}
}

// unfit matches numbers not fit for display.
var unfit = regexp.MustCompile(`NaN|\bInf\b|(?:^|[^\d.·])[−-]0(?:\.0+)?(?:[^\d.]|$)`)

// CheckExhibit renders and draws everything, and looks for formula sources in displayed or spoken
// text.
func CheckExhibit(t *testing.T, e *lessons.Exhibit) {
	t.Helper()
	for _, s := range texts(e) {
		if err := lessons.Text(s).Render(t.Context(), &strings.Builder{}); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		checkWords(t, "told", lessons.Spoken(s))
		found := unfit.FindString(s)
		require.Check(t, found == "", "%q has the number %q", s, found)
	}
	if e.Body != nil {
		if err := e.Body.Render(t.Context(), &strings.Builder{}); err != nil {
			t.Error(err)
		}
	}
	for i, f := range e.Figures {
		p, err := f.Draw(lessons.Look{Width: 360, Height: 280, Coarse: true})
		if err != nil {
			t.Errorf("figure %s: %v", f.Name, err)
			continue
		}
		checkWords(t, "told of "+f.Name, p.Caption)
		require.Check(t, p.Caption != "" || f.Caption != "", "figure %s has no words for those who do not see it", f.Name)
		require.Check(t, f.Name != "first", "a figure is called first, which is the route's name for the large one")
		for _, other := range e.Figures[:i] {
			require.Check(t, other.Name != f.Name, "two figures are called %s", f.Name)
		}
	}
	require.Check(t, e.Steps <= 0 || e.Step >= 0 && e.Step < e.Steps, "step %d of %d", e.Step, e.Steps)
}
