package all

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/a-h/templ"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/views/figure"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// eachScreen runs a test for every screen.
func eachScreen(t *testing.T, f func(t *testing.T, l *lessons.Lesson, s *lessons.Screen)) {
	t.Parallel()
	for i := range Lessons() {
		for k := range Lessons()[i].Screens {
			t.Run(Lessons()[i].Slug+"/"+Lessons()[i].Screens[k].Slug, func(t *testing.T) {
				t.Parallel()
				f(t, &Lessons()[i], &Lessons()[i].Screens[k])
			})
		}
	}
}

func TestSlugsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	once := func(path string) {
		require.Check(t, !seen[path], "%s is there twice", path)
		seen[path] = true
	}
	for _, l := range Lessons() {
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
	for _, l := range Lessons() {
		for _, s := range l.Screens {
			for _, id := range s.Covers {
				covered[id] = true
				_, ok := lessons.FindSection(id)
				require.Check(t, ok, "%s/%s covers %q, which is no section", l.Slug, s.Slug, id)
			}
		}
	}
	for _, d := range lessons.Documents() {
		for _, s := range d.Sections {
			require.Check(t, covered[s.ID], "no screen goes with %q, %s", s.ID, s.Title)
		}
	}
}

// Every numbered section of the document is in the index, in order; chapters 7 and 17 do not exist.
func TestIndexHasAllOf001(t *testing.T) {
	t.Parallel()
	chapters := []int{4, 3, 5, 3, 5, 6, 0, 2, 2, 3, 3, 3, 3, 4, 5, 3, 0, 3, 3, 4, 5} // sections of 1 to 21
	var want, got []string
	for i, n := range chapters {
		want = append(want, lists.Make(n, func(k int) string { return fmt.Sprintf("%d.%d", i+1, k+1) })...)
	}
	for _, d := range lessons.Documents() {
		for _, s := range d.Sections {
			if s.Document == "001" {
				got = append(got, s.Number)
			}
		}
	}
	require.Check(t, slices.Equal(got, want), "the index has %v, the document %v", got, want)
}

// Each lesson has an interactive figure, a replay, two or three questions, and a link to the lab.
func TestLessonsAreWhole(t *testing.T) {
	t.Parallel()
	for _, l := range Lessons() {
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			questions, figures, steps, lab := 0, 0, 0, false
			for _, s := range l.Screens {
				questions += len(s.Questions)
				if s.Demo == nil {
					continue
				}
				e := lessonstest.Show(t, &l, s.Slug)
				figures += len(e.Figures)
				steps += e.Steps
				lab = lab || e.Lab != ""
			}
			require.Check(t, questions >= 2 && figures != 0 && steps >= 3 && lab,
				"%d questions, %d figures, %d steps, way into the lab: %v", questions, figures, steps, lab)
		})
	}
}

// TestWords: every screen has text under its own heading, and it renders.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, l := range Lessons() {
		n := len(strings.Fields(l.Puzzle))
		require.Check(t, n != 0 && n <= buildWords && l.Part != "", "%s, of the part %q, asks %q of the moons", l.Slug, l.Part, l.Puzzle)
		require.Equal(t, l.Check(), nil, "l.Check()")
		require.Check(t, l.Title != "" && l.Summary != "" && !strings.Contains(l.Summary, "\n"),
			"%s: title %q, summary %q", l.Slug, l.Title, l.Summary)
	}
}

// TestGuides: every lesson has a guide with an entry for each of its screens, and it renders.
func TestGuides(t *testing.T) {
	t.Parallel()
	for _, l := range Lessons() {
		require.Equal(t, l.CheckGuide(), nil, "l.CheckGuide()")
		m := l.Guide.Minutes()
		require.Check(t, m >= 30 && m <= 90, "%s takes %d minutes", l.Slug, m)
		texts := slices.Clone(l.Guide.Aims)
		for _, s := range l.Guide.Screens {
			texts = append(texts, s.Do, s.Misconception)
		}
		for _, text := range texts {
			require.Equal(t, lessons.Text(text).Render(t.Context(), io.Discard), nil, "%s", l.Slug)
		}
	}
}

// moved matches a control that a guide says to move, by its symbol.
var moved = regexp.MustCompile(`(?i)\b(?:move|change|raise|lower|push|vary|slider of) \$([^$]+)\$`)

// TestGuidesCanBeDone: controls, steps and handles mentioned in a guide exist.
func TestGuidesCanBeDone(t *testing.T) {
	greek := strings.NewReplacer(`\gamma`, "γ", `\lambda`, "λ", `\mathbf w`, "w")
	eachScreen(t, func(t *testing.T, l *lessons.Lesson, s *lessons.Screen) {
		i := slices.IndexFunc(l.Guide.Screens, func(g lessons.GuideScreen) bool { return g.Slug == s.Slug })
		do := l.Guide.Screens[i].Do
		if s.Demo == nil {
			return
		}
		e := lessonstest.Show(t, l, s.Slug)
		require.Check(t, !regexp.MustCompile(`(?i)\b(step|run) (through|line|from|slowly|until|and|with|to|a walk)|\bStep;`).MatchString(do) || e.Steps != 0,
			"nothing to step through: %s", do)
		require.Check(t, !regexp.MustCompile(`(?i)\bdrags? `).MatchString(do) || len(e.Handles) != 0,
			"nothing to drag: %s", do)
		for _, m := range moved.FindAllStringSubmatch(do, -1) {
			symbol := greek.Replace(m[1])
			if !slices.ContainsFunc(s.Demo.Params(), func(p param.Param) bool {
				return p.Symbol == symbol || p.Label == symbol || strings.HasPrefix(p.Name, symbol)
			}) {
				t.Errorf("no control %s: %s", symbol, do)
			}
		}
	})
}

func TestWordsRender(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *lessons.Lesson, s *lessons.Screen) {
		require.Check(t, require.Drawn(t, s.Words().Render) != "", "a screen without words")
		lessonstest.CheckLabels(t, s)
	})
}

// onScreen matches instructions that need an interactive figure.
var onScreen = regexp.MustCompile(`(?i)\b(drag|click|press|sliders?|step through|turn the box)\b|(?:^|[.:;] )(?:then )?(?:(?:move|run) (?:the|your|a|it|\$)|step,|step (?:on|from|to|leaves)\b|then switch|go through (?:it|the seven))`)

// TestPaper: a printed lesson gives no instructions that need a screen.
func TestPaper(t *testing.T) {
	hint := regexp.MustCompile(`<(p|span) class="on-screen">(?s:.*?)</(p|span)>`)
	plain := regexp.MustCompile(`<[^>]*>`)
	eachScreen(t, func(t *testing.T, l *lessons.Lesson, s *lessons.Screen) {
		shown := []templ.Component{s.Words()}
		if s.After != nil {
			shown = append(shown, s.After())
		}
		for i := range s.Questions {
			shown = append(shown, lessons.Text(s.Questions[i].Ask))
		}
		if s.Demo != nil {
			e := lessonstest.Show(t, l, s.Slug)
			for _, f := range e.Figures {
				shown = append(shown, lessons.Text(f.Caption))
			}
			for _, n := range slices.Concat(e.Notes, e.After, e.Asks) {
				shown = append(shown, lessons.Text(n))
			}
		}
		for _, c := range shown {
			text := plain.ReplaceAllString(hint.ReplaceAllString(require.Drawn(t, c.Render), ""), "")
			require.Equal(t, onScreen.FindString(text), "", "%q: put tildes around what is for the screen", text)
		}
	})
}

// TestPointers: the answer about tuning links to the screen of risk about optimistic training
// errors, and texts that need a constraint qualification name one.
func TestPointers(t *testing.T) {
	t.Parallel()
	screen := func(lesson, slug string) *lessons.Screen {
		s, _ := Find(lesson).Screen(slug)
		return s
	}
	flatters := "“" + screen("risk", "training").Title + "” of the lesson on risk"
	require.Check(t, slices.ContainsFunc(screen("generalisation", "tuning").Questions, func(q lessons.Question) bool { return strings.Contains(q.Explain, flatters) }),
		"no answer about tuning names the screen %s", flatters)
	for lesson, slug := range map[string]string{"lagrange": "kkt", "hard-margin": "duality"} {
		words := require.Drawn(t, screen(lesson, slug).Words().Render)
		require.SaysAll(t, words, []string{"affine", "Slater"}, "the constraint qualification in %s/%s", lesson, slug)
	}
}

// taken lists URL parameters that control the display of an exhibit.
var taken = []string{"step", "width", "height", "dark", "coarse", "asking", "paper", "everything", "screen", "slide", "course", "ahead", "drawn", "v"}

// TestDemos shows every demo with defaults, with every control at its limits and with invalid
// values, and with all draggable points coinciding or collinear.
func TestDemos(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *lessons.Lesson, s *lessons.Screen) {
		if s.Demo == nil {
			t.Skip("nothing live")
		}
		values := map[string][]string{}
		for _, p := range s.Demo.Params() {
			_, twice := values[p.Name]
			require.Check(t, !twice && !slices.Contains(taken, p.Name), "the name %q is taken", p.Name)
			if lessons.IsData(p) || lessons.IsRun(p) {
				continue
			}
			in, wrong := s.Demo.NewInput(func(string) string { return "" }, lessonstest.Builtins{})
			require.Check(t, len(wrong) <= 0 && in.Text(p) == p.Default && p.Check(p.Default) == nil, "the default %q of %s does not fit", p.Default, p.Name)
			values[p.Name] = []string{"nonsense"}
			switch p.Kind {
			case param.Number, param.Integer:
				require.Check(t, p.Low != p.High, "%s has no slider", p.Name)
				values[p.Name] = append(values[p.Name], strconv.FormatFloat(p.Low, 'g', -1, 64), strconv.FormatFloat(p.High, 'g', -1, 64))
			case param.Switch:
				values[p.Name] = append(values[p.Name], "true", "false")
			case param.Choice:
				for _, o := range p.Options {
					values[p.Name] = append(values[p.Name], o.Name)
				}
			}
		}
		input := func(form map[string]string) lessons.Input {
			in, _ := s.Demo.NewInput(func(name string) string { return form[name] }, lessonstest.Builtins{})
			in.Coarse = form != nil
			return in
		}
		show := func(form map[string]string) *lessons.Exhibit {
			in := input(form)
			in.Unlisted = func(name string) { t.Errorf("the demo reads %q and does not list it", name) }
			e := require.Value(s.Demo.Show(t.Context(), in))(t, "%v", form)
			lessonstest.CheckExhibit(t, e)
			return e
		}
		start := show(nil)
		drawAtOnce(t, start)
		lessonstest.CheckWritten(t, start)
		seen := map[string]bool{} // invalid values give the same result for every control
		for name, vs := range values {
			for _, v := range vs {
				form := map[string]string{name: v}
				if key, _, _ := input(form).Key(); !seen[key] {
					seen[key] = true
					show(form)
				}
			}
		}
		for _, h := range start.Handles {
			x, y := h.Moves()
			for _, name := range []string{x, y} {
				_, ok := values[name]
				require.Check(t, name == "" || ok, "the handle %q moves %q, which is no control", h.Label, name)
			}
		}
		for _, at := range [][2]float64{{4, 3}, {-0.1, 0.3}} { // all points coinciding, and collinear
			for _, apart := range []float64{0, 0.7} {
				form := map[string]string{}
				for i, h := range start.Handles {
					x, y := h.Moves()
					form[x], form[y] = strconv.FormatFloat(at[0]-float64(i)*apart, 'g', -1, 64), strconv.FormatFloat(at[1], 'g', -1, 64)
				}
				if delete(form, ""); len(form) > 2 {
					show(form)
				}
			}
		}
		if start.Steps > 0 {
			checkSteps(t, start.Steps, func(k int) *lessons.Exhibit { return show(map[string]string{"step": strconv.Itoa(k)}) })
		}
	})
}

// TestPredictionsComeFirst: while answers are pending, an exhibit keeps its large figure but
// hides some of it; whatever is hidden has a pending question and a text that explains this.
func TestPredictionsComeFirst(t *testing.T) {
	eachScreen(t, func(t *testing.T, l *lessons.Lesson, s *lessons.Screen) {
		if s.After != nil {
			require.Equal(t, s.After().Render(t.Context(), &strings.Builder{}), nil, "Render")
		}
		less := s.After != nil
		if s.Demo != nil {
			e := lessonstest.Show(t, l, s.Slug)
			asking := e.Asking()
			require.Check(t, len(asking.Figures) != 0 && asking.Figures[0].Name == e.Figures[0].Name,
				"the large picture is folded")
			less = less || len(asking.Figures) < len(e.Figures) || len(asking.Numbers) < len(e.Numbers) || len(asking.Tables) < len(e.Tables) || len(e.After) > 0
			for i, f := range e.Figures {
				require.Check(t, i == 0 || !e.Figures[i-1].After || f.After,
					"the picture %s comes after one that is folded, and would change its place", f.Name)
				if f.Asks == "" {
					continue
				}
				less = true
				whole, hidden := drawn(t, f, false), drawn(t, f, true)
				require.Check(t, whole != hidden, "the picture %s gives the same away before and after", f.Name)
				if says := "Answer to see more"; strings.Contains(whole, says) || !strings.Contains(hidden, says) {
					t.Errorf("the picture %s does not say that it waits for an answer, or says so for ever", f.Name)
				}
				require.Check(t, asking.Figures[i].Caption == f.Asks && e.Figures[i].Caption != f.Asks,
					"the picture %s has the caption %q", f.Name, asking.Figures[i].Caption)
			}
		}
		require.Check(t, !less || len(s.Questions) != 0, "something is folded for good: there is no question")
	})
}

// given lists words that answer a screen's question and must be hidden before the answer.
var given = map[string][]string{
	"margins/two-margins":        {"proportional to", "not the boundary", "worst functional"},
	"margins/canonical":          {`{2}{\lVert\mathbf w\rVert}`, "distance between the margin lines", "short weight"},
	"lagrange/cases":             {"Is that multiplier positive"},
	"hard-margin/dual":           {"points meet points", "*dual problem*"},
	"hard-margin/duality":        {"at the end the margin"},
	"soft-margin/dual":           {"can have"},
	"procedures/pair":            {"the step goes there", "ends of the segment", "What the box leaves", `L = \max`},
	"procedures/chunking":        {"never falls"},
	"mcm/charnes-cooper":         {"p = 1/l", "h = g"},
	"conformal/eigen":            {"both sides vanish", "for every $D$"},
	"kernel-ridge/leave-one-out": {`1 - S_{ii}`},
	"hard-margin/support":        {"nothing moves", "Only the support vectors"},
	"hard-margin/only-hard":      {`sum_i\alpha_i}$ says`},
	"perceptron/gram":            {"largest change", "mistaken."},
	"perceptron/order":           {"not widest", "hard-margin SVM", "the best order", "widest line"},
	"soft-margin/c":              {"as $C$ falls", "more points get a ring"},
	"kernel-trick/xor":           {"Gram matrix.", "tetrahedron", "multipliers are equal", "equally far"},
	"kernel-trick/bumps":         {"a centre have to be"},
	"kernel-trick/representer":   {"No v moves"},
	"kernel-trick/cost":          {"half as many"},
	"mercer/gram":                {"first row", "first column"},
	"mercer/test":                {"still refute", "there may be none"},
	"mercer/indefinite":          {"stops at the bound", "of the solver"},
	"mercer/combine":             {"always valid", "cos"},
	"width/gram":                 {"from 1 to", "all ones", "largest eigenvalue"},
	"procedures/hinge":           {"is wrong", "the right condition", "left alone", "if } y_i f"},
	"procedures/subgradient":     {"zig-zag", "never settles"},
	"procedures/naive":           {"climbs past", "past the", "another problem", "part from"},
	"procedures/smo":             {"goes up and down", "upper bound"},
	"risk/risk":                  {"either way"},
	"risk/training":              {"new points; ±", "flatters by"},
	"risk/shattering":            {"One set of that size", "points in a triangle", "realised in all", "Cover's count"},
	"risk/bound":                 {"not vacuous from"},
	"risk/margin":                {"all lengths × 100"},
	"risk/your-run":              {"Every bound on this run"},
	"mcm/ratio":                  {"The ratio of the bands"},
	"mcm/bound":                  {"does not know the origin", "The inequality does", "what is not"},
	"mcm/beside":                 {"and may lie anywhere"},
	"mcm/interpolation":          {"nothing to decide", "only interpolates", "takes the value"},
	"conformal/factor":           {"the kernel is valid"},
	"conformal/metric":           {"by the kernel alone", "For the RBF kernel", `2\gamma`},
	"conformal/empirical":        {"folds opposite points"},
	"conformal/fisher":           {"nothing else changes"},
	"conformal/methods":          {"No method wins", "on either side of it"},
	"eight-steps/first":          {"so many", "Rings"},
	"eight-steps/test":           {"may well be chance", "right after"},
	"eight-steps/eigenproblem":   {"J after", "in its denominator"},
	"generalisation/fewer":       {"not better", "may have the larger"},
	"generalisation/tuning":      {"will not be the judge", "no final judge"},
	"generalisation/promises":    {"sparse bound"},
	"generalisation/study":       {"minus SVM"},
	"kernel-ridge/squares":       {"would be the same"},
	"kernel-ridge/path":          {"one factorisation", "Factor once"},
	"kernel-ridge/classifier":    {"The SVM on the same points"},
	"several-classes/rest":       {"The answer is"},
	"several-classes/four":       {"lose the middle", "How many points are right"},
	"several-classes/scale":      {"places stay", "does not depend", "has changed", "as trained"},
	"several-classes/cost":       {"work against that of the rest"},
	"several-classes/better":     {"The best C of each rule"},
	"graph-kernels/blind":        {"cannot see", "equally often", "equally many", "the same numbers of all colours"},
	"graph-kernels/product":      {"numbers of walks multiply", "their product"},
	"string-kernels/objects":     {"inner product of *some*", "never touch a point"},
	"fisher-kernel/restarts":     {"equally many components"},
	"fisher-kernel/scores":       {"K(1+2d)", "free"},
	"fisher-kernel/kernel":       {"divides that out", "change with"},
	"fisher-kernel/svm":          {"Go from one to five", "wrong on 1000"},
	"perceptron/rule":            {"the right side:", "$ after"},
	"perceptron/never":           {"looks"},
	"lagrange/inequality":        {"below 0: rejected"},
	"width/bubbles":              {"Ringed"},
	"width/bias-variance":        {"machines disagree"},
}

// TestAnswersAreFolded reads a screen as a student who has not answered yet.
func TestAnswersAreFolded(t *testing.T) {
	for name := range given {
		lesson, screen, _ := strings.Cut(name, "/")
		if l := Find(lesson); l == nil {
			t.Errorf("there is no lesson %s", lesson)
		} else if s, _ := l.Screen(screen); s == nil {
			t.Errorf("there is no screen %s", name)
		}
	}
	eachScreen(t, func(t *testing.T, l *lessons.Lesson, s *lessons.Screen) {
		name := l.Slug + "/" + s.Slug
		var page strings.Builder
		page.WriteString(s.Title + "\n")
		require.NoError(t, s.Words().Render(t.Context(), &page))
		if s.Demo != nil {
			asking := lessonstest.Show(t, l, s.Slug).Asking()
			page.WriteString(told(asking))
			if e := asking.Body; e != nil && !asking.Rules {
				for i, l := range e.Lines {
					if slices.ContainsFunc(s.Questions, func(q lessons.Question) bool { return e.At(q.Before) == i }) {
						break
					}
					page.WriteString(l.Why + " " + l.TeX + "\n")
				}
			}
		}
		for _, words := range given[name] {
			require.Check(t, !strings.Contains(page.String(), words), "%q answers before the question", words)
		}
	})
}

// told returns the words and numbers of an exhibit.
func told(e lessons.Exhibit) string {
	var page strings.Builder
	for _, f := range e.Figures {
		page.WriteString(f.Caption + "\n")
	}
	for _, n := range e.Numbers {
		page.WriteString(n.Label + " " + n.Value + " " + n.Help + "\n")
	}
	for _, table := range e.Tables {
		fmt.Fprintln(&page, table.Caption, table.Head, table.Rows)
	}
	fmt.Fprintln(&page, e.Notes, e.After)
	return page.String()
}

// Where controls are set to what a question asks about, only what would answer it is hidden.
func TestControlsGiveNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		screen string
		set    []string // names and values of controls
		figure bool     // the first figure is hidden, too
		words  []string // that are hidden
	}{
		{"risk/shattering", []string{"n", "4"}, false, []string{"realised so far"}},
		{"risk/bound", []string{"h", "3", "remp", "0", "m", "80"}, true, []string{"Vapnik's bound", "structural term", `\varepsilon`}},
		{"conformal/magnify", []string{"where", "-2", "steepness", "1.5"}, true, []string{`$R/\Delta$ after`, "slope in the gap", "the gap has shrunk"}},
		{"conformal/magnify", []string{"where", "0.4"}, false, nil},
		{"conformal/empirical", []string{"kernel", "square"}, true, []string{"of the kernel that is chosen"}},
		{"conformal/empirical", []string{"kernel", "square", "set", "ring"}, false, nil},
		{"conformal/fisher", []string{"sorted", "false"}, false, []string{"though no feature was computed"}},
		{"conformal/eigen", []string{"repeat", "true", "ridge", "1"}, false, []string{"is singular", "dimensions that the cores really span", "smallest over largest"}},
		{"kernel-ridge/squares", []string{"level", "5"}, true, []string{"Every feature and its weight", "as small as can be"}},
		{"kernel-ridge/squares", []string{"lambda", "100"}, false, nil},
		{"kernel-ridge/curve", []string{"pull", "1.6"}, false, []string{"residual of the marked point", "the same number"}},
		{"kernel-ridge/path", []string{"gamma", "100"}, true, []string{"its left-out error"}},
		{"kernel-ridge/path", []string{"gamma", "0.5"}, false, nil},
		{"kernel-ridge/too-right", []string{"fx", "12"}, true, []string{"has moved its line", "ridge: errors"}},
		{"graph-kernels/tottering", []string{"graph", "edge"}, false, []string{"Walks by their length", "All walks, and those"}},
		{"graph-kernels/tottering", []string{"graph", "ring"}, false, nil},
		{"graph-kernels/refine", []string{"pair", "molecules"}, false, []string{"the products of round 0", "The dictionary"}},
		{"graph-kernels/blind", []string{"h", "2"}, true, nil},
		{"graph-kernels/machine", []string{"family", "cycles", "h", "1"}, false, []string{"right on fresh graphs"}},
		{"graph-kernels/machine", []string{"family", "cycles", "h", "0"}, true, []string{"right in training", "support vectors"}},
		{"string-kernels/gaps", []string{"seven", "false"}, true, []string{"The features of the three words", "add up to the kernel"}},
		{"string-kernels/weights", []string{"decay", "0.2", "k", "2"}, false, []string{"the distance grows by"}},
		{"string-kernels/cost", []string{"n", "40"}, false, []string{"entries of all tables"}},
		{"string-kernels/machine", []string{"k", "1"}, false, []string{"right on fresh strings"}},
		{"perceptron/rule", []string{"label", "1", "angle", "-130"}, true, []string{"A mistake", "$ after"}},
		{"perceptron/dual", []string{"strict", "true", "step", "8"}, true, []string{"having learned nothing", "the sum of all"}},
		{"perceptron/dual", []string{"step", "8"}, false, nil},
		{"perceptron/gram", []string{"turn", "40"}, false, []string{"was mistaken.", "learned after"}},
		{"perceptron/never", []string{"step", "160"}, true, []string{"looks", "mistakes"}},
		{"margins/two-margins", []string{"scale", "2"}, false, []string{"worst functional", "1.11"}},
		{"lagrange/inequality", []string{"other", "true"}, true, []string{"is *free*", "rejected"}},
		{"lagrange/inequality", nil, false, nil},
		{"hard-margin/support", []string{"only", "true"}, true, []string{"the same line", "by deleting"}},
		{"soft-margin/one-point", []string{"px", "1.8", "py", "0.4"}, true, []string{"no solution", "none"}},
		{"soft-margin/price", []string{"C", "3"}, false, []string{"reached at", "the solver's sum"}},
		{"soft-margin/c", []string{"C", "0.001"}, true, []string{"Every point is bounded", "14 of 14"}},
		{"kernel-trick/line", []string{"set", "corners", "best", "true"}, true, []string{"fewest errors of any", "No line does better"}},
		{"kernel-trick/lift", []string{"set", "xor", "z", "product"}, true, []string{"The plane separates", "errors of the plane"}},
		{"kernel-trick/lift", []string{"z", "product"}, false, nil},
		{"kernel-trick/xor", []string{"step", "4"}, true, []string{"all are support vectors", "0.125"}},
		{"mercer/gram", []string{"px", "1", "py", "0"}, false, []string{"Bright blocks"}},
		{"mercer/combine", []string{"op", "conformal"}, true, []string{"no eigenvalue", "none below"}},
		{"procedures/subgradient", []string{"step", "100"}, false, []string{"The objective", "the primal objective"}},
		{"procedures/naive", []string{"step", "190"}, false, []string{"the SVM's maximum", "dual objective"}},
		{"procedures/chunking", []string{"step", "8"}, false, []string{"never falls", "The dual objective"}},
		{"procedures/pair", []string{"k12", "1"}, true, []string{"sends the step", "ends of the segment", "gain"}},
		{"procedures/smo", []string{"step", "9"}, false, []string{"upper bound", "The two objectives"}},
		{"eight-steps/first", []string{"gamma", "5"}, true, []string{" of 140", "Rings"}},
		{"eight-steps/test", []string{"seed", "2"}, false, []string{"accuracy, held out", "right after"}},
		{"width/gram", []string{"step", "12"}, false, []string{"largest eigenvalue", "Its eigenvalues"}},
		{"width/bubbles", []string{"gamma", "1000"}, true, []string{"Ringed", " of 100"}},
		{"width/bias-variance", []string{"gamma", "10"}, false, []string{"main prediction", "machines disagree"}},
		{"generalisation/leave-one-out", []string{"C", "0.01"}, true, []string{"bound $N_{SV}/N$", "support vectors (ringed)"}},
		{"generalisation/leave-one-out", []string{"machine", "mcm"}, false, []string{"left-out error", "errors so far"}},
		{"several-classes/scale", []string{"factor", "0.25"}, true, nil},
		{"several-classes/scale", []string{"factor", "1"}, false, nil},
		{"fisher-kernel/collapse", []string{"floor", "1e-6"}, true, []string{"log L", "The log-likelihood so far"}},
		{"fisher-kernel/kernel", []string{"unit", "10"}, true, []string{"What the parameters contribute", "simple and full"}},
		{"fisher-kernel/svm", []string{"components", "1"}, true, nil},
		{"mcm/ratio", []string{"t", "0.2"}, false, []string{"farthest over nearest:", "The ratio of the bands"}},
		{"mcm/bound", []string{"o", "-4"}, false, []string{"with the 1 appended:", "one curve moves"}},
		{"mcm/interpolation", []string{"C", "100", "gamma", "10"}, true, []string{"right on the training points"}},
		{"conformal/gradient", []string{"rate", "1"}, false, []string{"$J$ of the eigenvector"}},
	} {
		lesson, screen, _ := strings.Cut(c.screen, "/")
		e := lessonstest.Show(t, Find(lesson), screen, c.set...)
		whole, asking := told(*e), told(e.Asking())
		for _, words := range c.words {
			require.Check(t, strings.Contains(whole, words) && !strings.Contains(asking, words),
				"%s at %v: %q is there at once, or never", c.screen, c.set, words)
		}
		require.Equal(t, e.Figures[0].Asks != "", c.figure, "%s at %v: the first picture waits", c.screen, c.set)
	}
}

// TestLinesWait: a question about a line of its screen's derivation comes before that line; no
// line is asked about twice, and no question names a missing line.
func TestLinesWait(t *testing.T) {
	eachScreen(t, func(t *testing.T, l *lessons.Lesson, s *lessons.Screen) {
		var e lessons.Exhibit
		if s.Demo != nil {
			e = *lessonstest.Show(t, l, s.Slug)
		}
		view := lessons.ScreenView{Screen: *s, Folded: true}
		if s.Demo != nil {
			view.Demo = &lessons.DemoView{Whole: e, Answer: lessons.ExhibitView{Exhibit: e}}
		}
		of := map[string]string{}
		for _, q := range s.Questions {
			view.Questions = append(view.Questions, lessons.QuestionView{Question: q})
			if q.Before == "" {
				continue
			}
			k := e.Body.At(q.Before)
			require.Check(t, k >= 1 && k < e.Steps && !e.Rules, "the question %s comes before the line %q, which is line %d of %d", q.Slug, q.Before, k+1, e.Steps)
			require.Equal(t, of[q.Before], "", "the questions … and %s come before one line", q.Slug)
			of[q.Before] = q.Slug
		}
		if e.Body != nil {
			for _, line := range e.Body.Lines {
				require.Check(t, line.Slug == "" || of[line.Slug] != "", "the line %q waits for no question", line.Slug)
			}
		}
		parts := view.Parts()
		for i, p := range parts {
			q := s.Question(strings.TrimPrefix(p.ID, "ask-"))
			if q == nil {
				continue
			}
			waits := q.Before != ""
			require.Equal(t, slices.IndexFunc(parts, func(p lessons.Part) bool { return p.ID == "picture" }) > i, waits,
				"the question %s is part %d of %v", q.Slug, i+1, parts)
		}
	})
}

func drawn(t *testing.T, f lessons.Figure, asking bool) string {
	t.Helper()
	return require.Drawn(t, require.Value(f.Draw(lessons.Look{Width: 360, Height: 280, Coarse: true, Asking: asking}))(t).SVG)
}

// drawAtOnce draws an exhibit concurrently, as requests that share it do.
func drawAtOnce(t *testing.T, e *lessons.Exhibit) {
	t.Helper()
	var wait sync.WaitGroup
	for _, f := range slices.Concat(e.Figures, e.Figures) {
		wait.Go(func() {
			_, err := f.Draw(lessons.Look{Width: 160, Height: 120, Coarse: true})
			require.Check(t, err == nil, "%v", err)
		})
	}
	wait.Wait()
}

// checkSteps goes to the end, back and forwards again; states do not depend on the direction.
func checkSteps(t *testing.T, steps int, show func(int) *lessons.Exhibit) {
	t.Helper()
	at := []int{0, 1, steps / 2, steps - 2, steps - 1}
	require.Equal(t, show(10*steps).Step, steps-1, "beyond the end there is step … of %d", steps)
	first := map[int]*lessons.Exhibit{}
	for _, k := range append(append(at, at[3], at[2], at[1], at[0]), at...) {
		if k < 0 || k >= steps {
			continue
		}
		e := show(k)
		require.Check(t, e.Step == k, "asked for step %d, got %d", k, e.Step)
		if first[k] == nil {
			first[k] = e
		}
		require.Check(t, reflect.DeepEqual(e.Numbers, first[k].Numbers) && reflect.DeepEqual(e.Tables, first[k].Tables) && reflect.DeepEqual(e.Notes, first[k].Notes),
			"step %d is not the same a second time", k)
	}
}

// TestQuestions gives the right and wrong answers to every question.
func TestQuestions(t *testing.T) {
	eachScreen(t, func(t *testing.T, _ *lessons.Lesson, s *lessons.Screen) {
		for i := range s.Questions {
			q := &s.Questions[i]
			for _, text := range slices.Concat([]string{q.Ask, q.Explain}, q.Options, q.Wrong) {
				require.Equal(t, lessons.Text(text).Render(t.Context(), io.Discard), nil, "%q", text)
			}
			truth := require.Value(q.Solve(t.Context()))(t, "%s", q.Slug)
			if q.Sketch != nil {
				checkSketch(t, q, truth)
				continue
			}
			rights, n := 0, max(1, len(q.Options))
			for k := range n {
				given := strconv.Itoa(k)
				if len(q.Options) == 0 {
					given = strconv.FormatFloat(truth.Value, 'g', 4, 64)
				}
				right, answer, err := q.Judge(truth, given)
				require.Must(t, err == nil, "%s: %v", q.Slug, err)
				require.Check(t, answer != "", "%s reveals nothing", q.Slug)
				if right {
					rights++
				}
				if said := q.Mistaken(given); len(q.Options) > 0 && (said == "") != right {
					t.Errorf("%s: the option %q, right: %t, has the misconception %q", q.Slug, q.Options[k], right, said)
				}
			}
			require.Equal(t, rights, 1, "%s has … right answers", q.Slug)
			right, _, err := q.Judge(truth, strconv.FormatFloat(3*truth.Value+7, 'g', -1, 64))
			require.Check(t, !right || err != nil, "%s takes a wrong answer for a right one", q.Slug)
			for _, nonsense := range []string{"", "many", "99", "1/0"} {
				right, _, err := q.Judge(truth, nonsense)
				var wrong param.Problems
				require.Check(t, !right && (err == nil || errors.As(err, &wrong)),
					"%s judges %q: %v, %v", q.Slug, nonsense, right, err)
			}
			require.Check(t, q.Explain != "", "%s does not say why", q.Slug)
		}
	})
}

// checkSketch answers with the correct curve, an inverted one, and none. The empty figure shows
// nothing of the curve, and its axes do not change.
func checkSketch(t *testing.T, q *lessons.Question, truth lessons.Truth) {
	t.Helper()
	s := q.Sketch
	x, y := truth.Curve.X, truth.Curve.Y
	require.Must(t, len(x) >= 2 && len(y) == len(x) && x[0] <= s.X[0] && x[len(x)-1] >= s.X[len(s.X)-1] && slices.IsSorted(s.X) && slices.IsSorted(x),
		"%s: the curve from %g to %g is asked for at %v", q.Slug, x[0], x[len(x)-1], s.X)
	if right, _, err := q.Judge(truth, q.Given(truth)); err != nil || !right {
		t.Errorf("%s: the curve itself is right: %v, %v", q.Slug, right, err)
	}
	look := lessons.Look{Width: 500, Height: 446}
	blank := require.Value(s.Draw(look, nil))(t, "%s", q.Slug)
	shown, err := s.Draw(look, []figure.Curve{truth.Curve, *s.Curve(q.Given(truth))})
	require.Check(t, err == nil && shown.Frame == blank.Frame,
		"%s: the frame goes from %+v to %+v, %v", q.Slug, blank.Frame, shown.Frame, err)
	limits, heights := blank.Frame.Limits, strings.Fields(q.Given(truth))
	for i, text := range heights {
		v, err := strconv.ParseFloat(text, 64)
		require.Check(t, err == nil && v >= limits.YMin-1e-9 && v <= limits.YMax+1e-9 && s.X[i] >= limits.XMin-1e-9 && s.X[i] <= limits.XMax+1e-9,
			"%s: (%g, %s) is not in the picture %+v", q.Slug, s.X[i], text, limits)
		upside := limits.YMin + limits.YMax - v
		if s.Log {
			upside = limits.YMin * limits.YMax / v
		}
		heights[i] = strconv.FormatFloat(upside, 'g', -1, 64)
	}
	right, _, err := q.Judge(truth, strings.Join(heights, " "))
	require.Check(t, err == nil && !right, "%s: the curve upside down is right: %v, %v", q.Slug, right, err)
	for _, nonsense := range []string{"", "1", "many words here", strings.Repeat("1/0 ", len(s.X))} {
		var wrong param.Problems
		_, _, err := q.Judge(truth, nonsense)
		require.Check(t, errors.As(err, &wrong), "%s takes %q for a sketch: %v", q.Slug, nonsense, err)
	}
}

// TestPlacesOfAnswers counts the positions of right answers in class: no fixed letter should win.
func TestPlacesOfAnswers(t *testing.T) {
	t.Parallel()
	var places [3]int
	for k := range Lessons() {
		l := &Lessons()[k]
		for i := range l.Screens {
			s := &l.Screens[i]
			for j := range s.Questions {
				q := &s.Questions[j]
				if len(q.Options) != len(places) {
					continue
				}
				truth := require.Value(q.Solve(t.Context()))(t)
				places[slices.Index(lessons.Asked{Lesson: l, Screen: s, Question: q}.Order(), int(truth.Value))]++
			}
		}
	}
	n := places[0] + places[1] + places[2]
	for i, k := range places {
		require.Check(t, 5*k >= n && 2*k <= n, "%d of %d right answers have the letter %s: %v", k, n, lessons.Letter(i), places)
	}
	t.Logf("right answers by letter: %v", places)
}

// TestClassColours: the colours and names of two classes are used only for classes.
func TestClassColours(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	require.Must(t, err == nil && len(files) >= 40, "%d files, %v", len(files), err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source := require.Value(os.ReadFile(file))(t)
		for _, name := range []string{"figure.Blue", "figure.Orange"} {
			require.Check(t, !strings.Contains(string(source), name),
				"%s has %s, the colour of a class; use figure.ClassColor for one, figure.Violet, Magenta or Green for other things", file, name)
		}
	}
	bars := require.Value(figure.Bars{Values: []float64{3, -1, 2}}.Picture())(t)
	svg := require.Drawn(t, bars.SVG)
	for _, c := range figure.Light.Class[:2] {
		require.Check(t, !strings.Contains(svg, figure.Hex(c)),
			"bars that are of no class have %s, the colour of one", figure.Hex(c))
	}
}
