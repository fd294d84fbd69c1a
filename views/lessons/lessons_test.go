package lessons

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"marginlab/ml/dataset"
)

// builtinSource is a workspace without anything of its own.
type builtinSource struct{}

func (builtinSource) Data(_ context.Context, id string) (string, *dataset.Data, error) {
	b, ok := dataset.FindBuiltin(id)
	if !ok {
		return "", nil, errors.New("no such data")
	}
	d, err := b.Load()
	return b.Name, d, err
}

func (builtinSource) Run(context.Context, string) (*Run, error) {
	return nil, errors.New("no such run")
}

// showScreen shows the demo of a screen with these values of its controls, given as
// pairs of name and value.
func showScreen(t *testing.T, l *Lesson, screen string, pairs ...string) *Exhibit {
	t.Helper()
	s, _ := l.Screen(screen)
	if s == nil {
		t.Fatalf("no screen %s", screen)
	}
	form := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form[pairs[i]] = pairs[i+1]
	}
	in, wrong := s.Demo.NewInput(func(name string) string { return form[name] }, builtinSource{})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	e, err := s.Demo.Show(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// numberOf is the value of the number of a label.
func numberOf(t *testing.T, e *Exhibit, label string) string {
	t.Helper()
	for _, n := range e.Numbers {
		if n.Label == label {
			return n.Value
		}
	}
	t.Fatalf("no number is called %q: %v", label, e.Numbers)
	return ""
}

// texts are all texts of an exhibit that may hold formulas.
func texts(e *Exhibit) (all []string) {
	for _, f := range e.Figures {
		all = append(all, f.Caption)
	}
	for _, n := range e.Numbers {
		all = append(all, n.Label, n.Help)
	}
	for _, t := range e.Tables {
		all = append(append(all, t.Caption), t.Head...)
		for _, r := range t.Rows {
			all = append(all, r...)
		}
	}
	return append(all, e.Notes...)
}

// checkExhibit renders and draws everything.
func checkExhibit(t *testing.T, e *Exhibit) {
	t.Helper()
	for _, s := range texts(e) {
		if err := Text(s).Render(t.Context(), &strings.Builder{}); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	if e.Body != nil {
		if err := e.Body.Render(t.Context(), &strings.Builder{}); err != nil {
			t.Error(err)
		}
	}
	for i, f := range e.Figures {
		p, err := f.Draw(Look{Width: 360, Height: 280, Coarse: true})
		if err != nil {
			t.Errorf("figure %s: %v", f.Name, err)
			continue
		}
		if p.Caption == "" && f.Caption == "" {
			t.Errorf("figure %s has no words for those who do not see it", f.Name)
		}
		if f.Name == "first" {
			t.Error("a figure is called first, which is the route's name for the large one")
		}
		for _, other := range e.Figures[:i] {
			if other.Name == f.Name {
				t.Errorf("two figures are called %s", f.Name)
			}
		}
	}
	if e.Steps > 0 && (e.Step < 0 || e.Step >= e.Steps) {
		t.Errorf("step %d of %d", e.Step, e.Steps)
	}
}

func conformalNear(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.25": 0.25, "0,25": 0.25, "1/4": 0.25, "−3e-2": -0.03, " 2 ": 2, "-1/5": -0.2} {
		if got, err := readNumber(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1/0", "0/0", "1/", "/2", "1//2", "NaN", "inf"} {
		if got, err := readNumber(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
