package lessons

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.25": 0.25, "0,25": 0.25, "1/4": 0.25, "−3e-2": -0.03, " 2 ": 2, "-1/5": -0.2} {
		got, err := ReadNumber(text)
		require.Check(t, err == nil && got == want, "%q: %v, %v; want %v", text, got, err, want)
	}
	for _, text := range []string{"", "x", "1/0", "0/0", "1/", "/2", "1//2", "NaN", "inf"} {
		got, err := ReadNumber(text)
		require.Check(t, err != nil, "%q is %v", text, got)
	}
}

// TestTypeset keeps numbers and their units together and writes powers of ten as such.
func TestTypeset(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"7.731e−12":         "7.731·10⁻¹²",
		"−8.3e-07":          "−8.3·10⁻⁷",
		"2.347e+07":         "2.347·10⁷",
		"14.0 %":            "14.0\u00a0%",
		"8 of 8":            "8 of 8",
		"needs an error":    "needs an error",
		"C = 100, γ = 0.05": "C\u00a0=\u00a0100, γ\u00a0=\u00a00.05",
		"$R = 2$, the rest": "$R = 2$, the rest",
		"the word ate3e5x":  "the word ate3e5x",
	} {
		require.Equal(t, Typeset(value), want, "%q becomes", value)
	}
}

func TestDeckBuilds(t *testing.T) {
	t.Parallel()
	got := DeckBuilds(`<p>a <em>b</em></p><math display="block"><mi>x</mi></math><p class="on-screen">Drag.</p><h3>h</h3><ul><li>c</li><li><p>d</p></li></ul><p>e</p>`)
	first := `<p>a <em>b</em></p><math display="block"><mi>x</mi></math>`
	want := []string{
		first, first + `<h3>h</h3><ul><li>c</li></ul>`, first + `<h3>h</h3><ul><li>c</li><li><p>d</p></li></ul>`, first + `<h3>h</h3><ul><li>c</li><li><p>d</p></li></ul><p>e</p>`,
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
}

func TestNewGuide(t *testing.T) {
	t.Parallel()
	l := Lesson{Slug: "kernels", Screens: screens("one", "two")}
	l.Guide = newGuide("- See it\n- Say it\n\n## one, 6 min\n\nDo: Drag.\n\nMisconception: None.\n\n## two, 12 min, spare\nDo: Step.\nMisconception: Many.\n")
	require.NoError(t, l.CheckGuide())
	if g := l.Guide; len(g.Aims) != 2 || g.Aims[1] != "Say it" || g.Minutes() != 18 || g.Short() != 6 || g.Screens[1] != (GuideScreen{"two", 12, true, "Step.", "Many."}) {
		t.Errorf("%+v", g)
	}
	const one, two = "- a\n## one, 6 min\nDo: x\nMisconception: y\n", "## two, 6 min\nDo: x\nMisconception: y\n"
	for text, want := range map[string]string{
		"": "no aims", one: "screen two", "- a\n" + two + one[4:]: "screen one", one + "## two, 6 min\nDo: x\n": "too little of the screen two",
		one + two + "## three, 1 min\n": "has not", one + "## two, six min\nDo: x\nMisconception: y\n": "heading", one + "## two, 40 min\nDo: x\nMisconception: y\n": "46 without", one + two + "Do: more\n": "none of the kind",
	} {
		l.Guide = newGuide(text)
		require.Fails(t, l.CheckGuide(), want, "%q", text)
	}
}

// A derivation ends at the next heading; a formula belongs to the line before it.
func TestLines(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"derivations.md": {Data: []byte("## first\n\nOne.\n\n$$a = b$$\n\n{#two} Two.\n\n## second\n\nThree.\n")}}
	want := []Line{{Why: "One.", TeX: "a = b"}, {Slug: "two", Why: "Two."}}
	got := Lines(files, "first")()
	require.Check(t, reflect.DeepEqual(got, want), "the first: %+v, want %+v", got, want)
	got = Lines(files, "second")()
	require.Check(t, reflect.DeepEqual(got, []Line{{Why: "Three."}}), "the second: %+v", got)
	defer func() { require.Check(t, recover() != nil, "a missing derivation passes") }()
	Lines(files, "third")()
}

// TestMemo computes again after an error and once after success, and keeps no more than its limit.
func TestMemo(t *testing.T) {
	t.Parallel()
	var m Memo[int, int]
	computed, fault := 0, errors.ErrUnsupported
	for key := range 2 * memoLimit {
		for range 3 {
			_, err := Caught(func() int { return m.Get(key, func() int { computed++; return Must(0, fault) }) })
			require.Must(t, errors.Is(err, fault) && len(m.kept) <= memoLimit,
				"error %v, %d results are kept", err, len(m.kept))
			fault = nil
		}
	}
	require.Equal(t, computed, 2*memoLimit+1, "computed … times, want once for each key and again after the fault")
}

// An error ends Show, Answer, Truth and Draw, which return it; a fault of the program goes on.
func TestCaught(t *testing.T) {
	t.Parallel()
	fault := errors.New("no such data")
	d := NewDemo(func(_ context.Context, in Input) *Exhibit {
		if in.Step == 0 {
			Check(fault)
		}
		return &Exhibit{Figures: []Figure{{Draw: func(Look) (*figure.Picture, error) { panic(Failf("no %s", "picture")) }}}}
	})
	require.Is(t, require.Err(d.Show(t.Context(), Input{})), fault, "Show")
	e := require.Value(d.Show(t.Context(), Input{Step: 1}))(t)
	_, err := e.Figures[0].Draw(Look{})
	require.Check(t, err != nil && err.Error() == "no picture", "Draw: %v", err)

	q := Question{Answer: func(context.Context) float64 { return Must(1.0, fault) }}
	require.Is(t, require.Err(q.Solve(t.Context())), fault, "Answer")
	q = Question{Sketch: &Sketch{Truth: func(context.Context) figure.Curve { return Must(figure.Curve{}, fault) }}}
	require.Is(t, require.Err(q.Solve(t.Context())), fault, "Truth")

	defer func() { require.Equal(t, recover(), any("a fault"), "other panics") }()
	_, err = Caught(func() int { panic("a fault") })
	t.Errorf("a panic became the error %v", err)
}

// Prose has no HTML of its writer, and refuses what would take long to read.
func TestProse(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# A\n### B":                     "<h2>A</h2>\n<h3>B</h3>\n",
		"a <b>c</b> &lt; ![pic](/x.png)": "<p>a &lt;b&gt;c&lt;/b&gt; &lt; pic</p>\n",
		"[x](javascript:alert(1))":       "<p><a href=\"\">x</a></p>\n",
		"[x](https://example.com) `a<b`": "<p><a href=\"https://example.com\">x</a> <code>a&lt;b</code></p>\n",
		"cost \\$5":                      "<p>cost $5</p>\n",
		strings.Repeat("-", 60):          "<hr>\n",
	} {
		got, err := Prose(source)
		require.Check(t, err == nil && got == want, "%q: %q, %v, want %q", source, got, err, want)
	}
	for _, source := range []string{"$x", "$\\nothing$", strings.Repeat(">", 100), strings.Repeat("- 1. > ", 50), strings.Repeat("[a](", 3000)} {
		got, err := Prose(source)
		require.Check(t, err != nil, "%.20q is shown as %.50q", source, got)
	}
	got, err := ProseLaTeX("# A_1\n\n- *a* & **b**\n- $x_1$\n\n1. `c_d`\n\n> 5 %\n\n$$x^2$$\n\n```\n\\end{verbatim}\n```\n")
	want := "\\section*{A\\_1}\n\n\\begin{itemize}\n\\item \\emph{a} \\& \\textbf{b}\n\\item $x_1$\n\\end{itemize}\n\n\\begin{enumerate}\n\\item \\texttt{c\\_d}\n\\end{enumerate}\n\n\\begin{quote}\n5 \\%\n\n\\end{quote}\n\n\\[\nx^2\n\\]\n\n\\begin{verbatim}\n\\end {verbatim}\n\\end{verbatim}\n"
	require.Check(t, err == nil && got == want, "%q, %v", got, err)
}

// More rows than the lesson takes are thinned, by class and always alike.
func TestConformalThin(t *testing.T) {
	t.Parallel()
	b, _ := dataset.FindBuiltin("checkerboard")
	d := require.Value(b.Load())(t)
	thin, notes := Thin(d)
	n := len(thin.Y)
	positive := 0
	for _, c := range thin.Y {
		positive += c
	}
	require.Check(t, n == mostRows && positive == n/2 && len(notes) == 1,
		"%d rows, %d of the positive class, notes %q", n, positive, notes)
	again, _ := Thin(d)
	require.Check(t, again.Hash() == thin.Hash(), "a second time other rows are taken")
}

// The two columns of a picture of iris are those of the petal, which tell virginica
// from the others.
func TestConformalColumns(t *testing.T) {
	t.Parallel()
	b, _ := dataset.FindBuiltin("iris")
	d := require.Value(b.Load())(t)
	require.Slices(t, TellingColumns(d, "virginica"), []int{2, 3}, "columns of %v", d.Features)
}

// TestHints: the spoken form of a text includes its hints, without marks.
func TestHints(t *testing.T) {
	t.Parallel()
	const text = "The *probe*. ~Drag $x$.~"
	require.Equal(t, Spoken(text), "The probe. Drag x.", "spoken")
	require.Equal(t, Printed(text), "The *probe*.", "printed")
	require.Equal(t, Printed("~All of it.~"), "", "a hint printed")
	got, err := rendered(t, Text(Literal("a~b")))
	require.Check(t, err == nil && !strings.Contains(got, "~"), "a name: %q, %v", got, err)
}

// A boundary may be that of a large run of the workspace: it stops with its request.
func TestBoundaryStops(t *testing.T) {
	t.Parallel()
	m := TrainLinear(t.Context(), Separable)
	f := m.Boundary("boundary", "", nil)
	look := Look{Width: 160, Height: 120}
	require.Value(f.Draw(look.Within(t.Context())))(t)
	require.Is(t, require.Err(f.Draw(look.Within(mltest.Ended()))), context.Canceled, "an ended request")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	q := &Question{Slug: "which", Options: []string{"one", "two", "Neither."}}
	first := map[int]int{}
	for n := range 200 {
		seed := fmt.Sprint(n)
		order := q.Order(seed)
		again := q.Order(seed)
		require.Must(t, slices.Equal(order, again), "seed %s: %v, and then %v", seed, order, again)
		require.Must(t, order[2] == 2, "seed %s: %v has %q before others", seed, order, q.Options[2])
		require.Must(t, order[0]+order[1] == 1, "seed %s: %v", seed, order)
		first[order[0]]++
	}
	require.Check(t, min(first[0], first[1]) >= 60, // 5.6 standard deviations
		"of 200 orders %d begin with the first option and %d with the second", first[0], first[1])
	order := (&Question{}).Order("a")
	require.Check(t, len(order) == 0, "a question without options has the order %v", order)
}

func TestTeX(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 0.5: "0.5", -3: "-3", 1e-12: "0", 5.961e-8: `5.961 \cdot 10^{-8}`, -2.5e7: `-2.5 \cdot 10^{7}`,
		math.Inf(1): `\infty`, math.Inf(-1): `-\infty`,
	} {
		require.Equal(t, TeX(v), want, "TeX(%v)", v)
	}
	for v, want := range map[float64]string{2: "2", -0.25: `-\tfrac{1}{4}`, 0.6789: "0.679", 1.23456e-7: `1.23 \cdot 10^{-7}`} {
		require.Equal(t, TeXFraction(v), want, "TeXFraction(%v)", v)
	}
}

// unescaped reads GIFT text as Moodle does: a backslash takes the meaning from the sign behind it.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\~`, "~", `\=`, "=", `\#`, "#", `\{`, "{", `\}`, "}", `\:`, ":").Replace(s)
}

// Every character with a meaning in GIFT is escaped, in text and in formulas, and survives being
// read back.
func TestGIFTEscapes(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`a = b`, `a \= b`},
		{`~hidden~ #1: {x}`, `\#1\: \{x\}`},
		{`*so* it is`, `<em>so</em> it is`},
		{`$\frac{1}{2} = \nabla f$`, `\\(\\frac\{1\}\{2\} \= \\nabla f\\)`},
		{`$a \\ b < c$ & "d"`, `\\(a \\\\ b &lt; c\\) &amp; &\#34;d&\#34;`},
		{"two\n\nlines", `two lines`},
	} {
		got := giftText(c[0])
		require.Equal(t, got, c[1], "%q", c[0])
		require.Check(t, giftEscaped(unescaped(got)) == got, "%q is read as %q", got, unescaped(got))
	}
}

func TestGIFT(t *testing.T) {
	t.Parallel()
	l := &Lesson{Slug: "l"}
	s := &Screen{Slug: "s", Title: "One: two"}
	var text strings.Builder
	require.NoError(t, GIFT(&text, "Margin Lab/A and B", []Asked{
		{l, s, &Question{Slug: "pick", Ask: "Is $x = 1$?", Options: []string{"Yes: 1", "No"}, Wrong: []string{"", "It is {1}."}, Explain: "As it is."}, Truth{Value: 0}},
		{l, s, &Question{Slug: "count", Ask: "How many?", Explain: "There are %s."}, Truth{Value: 40}},
		{l, s, &Question{Slug: "draw", Ask: "Draw.", Sketch: &Sketch{}}, Truth{}},
	}))
	const want = `// 1 question is left out, as the answer is a drawing.

$CATEGORY: Margin Lab//A and B

// l/s/pick
::One\: two (pick)::[html]Is \\(x \= 1\\)? {
=Yes\: 1
~No#It is \{1\}.
####As it is.
}

// l/s/count
::One\: two (count)::[html]How many? {#40:0.4
####There are 40.
}
`
	require.Check(t, text.String() == want, "got\n%s\nwant\n%s", text.String(), want)
}

// The median of a class counts everybody: those who drew the same, too. What cannot be read
// is left out.
func TestCrowd(t *testing.T) {
	t.Parallel()
	s := Sketch{X: []float64{0, 1}}
	if got := s.crowd(nil); got != nil {
		t.Errorf("nobody drew %v", got)
	}
	got := s.crowd(map[string]int{"0 9": 3, "1 5": 1, "8 1": 1, "7": 2})
	require.Check(t, len(got) == 4 && !got[0].Pale && got[1].Pale && cmp.Equal(got[0].Y, []float64{0, 9}),
		"of three kinds: %+v", got)
	got = s.crowd(map[string]int{"0 9": 1, "1 5": 1})
	require.Check(t, cmp.Equal(got[0].Y, []float64{0.5, 7}), "between two: %v", got[0].Y)
}

// A curve is told by where it begins, bends and ends, in numbers as one says them.
func TestTold(t *testing.T) {
	t.Parallel()
	number := Sketch{Over: "C", X: []float64{0.001, 0.0316, 0.316, 1, 100, 1e4}, Height: 15}
	bound := Sketch{Over: "M", X: []float64{10, 100, 1000, 1e4}, Height: 5, Log: true}
	for _, c := range []struct {
		s     Sketch
		drawn string
		want  string
	}{
		{number, "14 14 7.002 7.9 8.951 4", "14 at C = 0.001, still at 0.032, down to 7 at 0.32, up to 9 at 100, down to 4 at 10000"},
		{number, "3 3 3.001 3 2.99 3", "3 at C = 0.001, still at 10000"},
		{number, "-0.01 0 0 0 0 -2", "0 at C = 0.001, still at 100, down to −2 at 10000"},
		{bound, "4.68 0.4701 0.0469 0.004712", "4.7 at M = 10, down to 0.0047 at 10000"},
	} {
		require.Equal(t, c.s.display(*c.s.Curve(c.drawn)), c.want, "%s is told as", c.drawn)
	}
}

// No two sketches are equal: the median of a class stands for its wrong sketches. Numbers and
// options are listed with how often they were given.
func TestOften(t *testing.T) {
	t.Parallel()
	drawn := Asked{Question: &Question{Sketch: &Sketch{X: []float64{0, 1}, Height: 10}}}
	for _, c := range []struct {
		a    Asked
		in   map[string]int
		want string
		n    int
	}{
		{drawn, map[string]int{"0 9": 2, "1 5": 1}, "the median drawing: 0 at x₁ = 0, up to 9 at 1", 3},
		{drawn, map[string]int{"0 9": 1}, "", 0},
		{drawn, nil, "", 0},
		{Asked{Question: &Question{}}, map[string]int{"10000": 2, "7": 2, "8": 1}, "10000", 2},
		{Asked{Question: &Question{Options: []string{"yes", "no"}}}, map[string]int{"1": 3, "0": 1}, "no", 3},
		{Asked{Question: &Question{Options: []string{"yes", "no"}}}, map[string]int{"1": 1}, "", 0},
	} {
		got, n := c.a.Often(c.in)
		require.Check(t, got == c.want && n == c.n, "%v: %q by %d", c.in, got, n)
	}
}
