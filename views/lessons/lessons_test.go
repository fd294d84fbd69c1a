package lessons

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
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

// eachScreen runs a test for every screen.
func eachScreen(t *testing.T, f func(t *testing.T, l *Lesson, s *Screen)) {
	t.Parallel()
	for i := range All {
		for k := range All[i].Screens {
			t.Run(All[i].Slug+"/"+All[i].Screens[k].Slug, func(t *testing.T) {
				t.Parallel()
				f(t, &All[i], &All[i].Screens[k])
			})
		}
	}
}

func TestSlugsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	once := func(path string) {
		if seen[path] {
			t.Errorf("%s is there twice", path)
		}
		seen[path] = true
	}
	for _, l := range All {
		once(l.Slug)
		for _, s := range l.Screens {
			once(l.Slug + "/" + s.Slug)
			for _, q := range s.Questions {
				once(l.Slug + "/" + s.Slug + "/" + q.Slug)
			}
		}
	}
}

func TestEverySectionHasAScreen(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, l := range All {
		for _, s := range l.Screens {
			for _, id := range s.Covers {
				covered[id] = true
				if _, ok := FindSection(id); !ok {
					t.Errorf("%s/%s covers %q, which is no section", l.Slug, s.Slug, id)
				}
			}
		}
	}
	for _, d := range Documents {
		for _, s := range d.Sections {
			if !covered[s.ID] {
				t.Errorf("no screen goes with %q, %s", s.ID, s.Title)
			}
		}
	}
}

// TestLessonsAreWhole: each has a live picture, steps to go through, two or three
// questions, and a way into the lab.
func TestLessonsAreWhole(t *testing.T) {
	t.Parallel()
	for _, l := range All {
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			questions, figures, steps, lab := 0, 0, 0, false
			for _, s := range l.Screens {
				questions += len(s.Questions)
				if s.Demo == nil {
					continue
				}
				in, _ := s.Demo.NewInput(func(string) string { return "" }, builtinSource{})
				e, err := s.Demo.Show(t.Context(), in)
				if err != nil {
					t.Fatalf("%s: %v", s.Slug, err)
				}
				figures += len(e.Figures)
				steps += e.Steps
				lab = lab || e.Lab != ""
			}
			if questions < 2 || figures == 0 || steps < 3 || !lab {
				t.Errorf("%d questions, %d figures, %d steps, way into the lab: %v", questions, figures, steps, lab)
			}
		})
	}
}

func TestWordsRender(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *Lesson, s *Screen) {
		var b strings.Builder
		if err := s.Words().Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if b.Len() == 0 {
			t.Error("a screen without words")
		}
	})
}

// texts are all texts of an exhibit that may hold formulas.
func (e *Exhibit) texts() (all []string) {
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
	for _, s := range e.texts() {
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

// TestDemos shows every demo at its defaults, and with every control at its ends
// and at nonsense.
func TestDemos(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *Lesson, s *Screen) {
		if s.Demo == nil {
			t.Skip("nothing live")
		}
		values := map[string][]string{}
		for _, p := range s.Demo.Params {
			if IsData(p) || IsRun(p) {
				continue
			}
			if in, wrong := s.Demo.NewInput(func(string) string { return "" }, builtinSource{}); len(wrong) > 0 || in.Text(p.Name) != p.Default || p.Check(p.Default) != nil {
				t.Errorf("the default %q of %s does not fit", p.Default, p.Name)
			}
			values[p.Name] = []string{"nonsense"}
			switch p.Kind {
			case param.Number, param.Integer:
				if p.Low == p.High {
					t.Errorf("%s has no slider", p.Name)
				}
				values[p.Name] = append(values[p.Name], strconv.FormatFloat(p.Low, 'g', -1, 64), strconv.FormatFloat(p.High, 'g', -1, 64))
			case param.Switch:
				values[p.Name] = append(values[p.Name], "true", "false")
			case param.Choice:
				for _, o := range p.Options {
					values[p.Name] = append(values[p.Name], o.Name)
				}
			}
		}
		show := func(form map[string]string) *Exhibit {
			in, _ := s.Demo.NewInput(func(name string) string { return form[name] }, builtinSource{})
			in.Coarse = form != nil
			e, err := s.Demo.Show(t.Context(), in)
			if err != nil {
				t.Fatalf("%v: %v", form, err)
			}
			checkExhibit(t, e)
			return e
		}
		start := show(nil)
		drawAtOnce(t, start)
		for name, vs := range values {
			for _, v := range vs {
				show(map[string]string{name: v})
			}
		}
		for _, h := range start.Handles {
			for _, name := range []string{h.XParam, h.YParam} {
				if _, ok := values[name]; name != "" && !ok {
					t.Errorf("the handle %q moves %q, which is no control", h.Label, name)
				}
			}
		}
		if start.Steps > 0 {
			checkSteps(t, start.Steps, func(k int) *Exhibit { return show(map[string]string{"step": strconv.Itoa(k)}) })
		}
	})
}

// drawAtOnce draws an exhibit as requests do that share it: at the same time.
func drawAtOnce(t *testing.T, e *Exhibit) {
	t.Helper()
	var wait sync.WaitGroup
	for _, f := range slices.Concat(e.Figures, e.Figures) {
		wait.Go(func() {
			if _, err := f.Draw(Look{Width: 160, Height: 120, Coarse: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// checkSteps goes to the end, back to the start and forward again; states must be
// the same wherever they are come from.
func checkSteps(t *testing.T, steps int, show func(int) *Exhibit) {
	t.Helper()
	at := []int{0, 1, steps / 2, steps - 2, steps - 1}
	if last := show(10 * steps); last.Step != steps-1 {
		t.Errorf("beyond the end there is step %d of %d", last.Step, steps)
	}
	first := map[int]*Exhibit{}
	for _, k := range append(append(at, at[3], at[2], at[1], at[0]), at...) {
		if k < 0 || k >= steps {
			continue
		}
		e := show(k)
		if e.Step != k {
			t.Errorf("asked for step %d, got %d", k, e.Step)
		}
		if first[k] == nil {
			first[k] = e
		}
		if !reflect.DeepEqual(e.Numbers, first[k].Numbers) || !reflect.DeepEqual(e.Tables, first[k].Tables) || !reflect.DeepEqual(e.Notes, first[k].Notes) {
			t.Errorf("step %d is not the same a second time", k)
		}
	}
}

// TestQuestions answers every question right and wrong.
func TestQuestions(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *Lesson, s *Screen) {
		for i := range s.Questions {
			q := &s.Questions[i]
			for _, text := range append([]string{q.Ask, q.Explain}, q.Options...) {
				if err := Text(text).Render(t.Context(), &strings.Builder{}); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
			truth, err := q.Answer(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", q.Slug, err)
			}
			rights, n := 0, max(1, len(q.Options))
			for k := range n {
				given := strconv.Itoa(k)
				if len(q.Options) == 0 {
					given = strconv.FormatFloat(truth, 'g', 4, 64)
				}
				right, answer, err := q.Judge(truth, given)
				if err != nil {
					t.Fatalf("%s: %v", q.Slug, err)
				}
				if answer == "" {
					t.Errorf("%s reveals nothing", q.Slug)
				}
				if right {
					rights++
				}
			}
			if rights != 1 {
				t.Errorf("%s has %d right answers", q.Slug, rights)
			}
			if right, _, err := q.Judge(truth, strconv.FormatFloat(3*truth+7, 'g', -1, 64)); right && err == nil {
				t.Errorf("%s takes a wrong answer for a right one", q.Slug)
			}
			for _, nonsense := range []string{"", "many", "99", "1/0"} {
				right, _, err := q.Judge(truth, nonsense)
				var wrong param.Problems
				if right || err != nil && !errors.As(err, &wrong) {
					t.Errorf("%s judges %q: %v, %v", q.Slug, nonsense, right, err)
				}
			}
			if q.Explain == "" {
				t.Errorf("%s does not say why", q.Slug)
			}
		}
	})
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
