package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

func combine(expression string) Kernel {
	return Kernel{Name: combined.Name, Values: param.Values{expressionParam.Name: param.Of(expression)}}
}

// referenceNode evaluates an expression by that of its parts.
func referenceNode(t testing.TB, e expression, n node, x, z []float64) float64 {
	switch n.kind {
	case isNumber:
		return n.number
	case isPart:
		return reference(t, e.parts[n.part].Kernel)(x, z)
	}
	v := referenceNode(t, e, n.of[0], x, z)
	for _, m := range n.of[1:] {
		if n.kind == isSum {
			v += referenceNode(t, e, m, x, z)
		} else {
			v *= referenceNode(t, e, m, x, z)
		}
	}
	return v
}

// anyExpression returns an expression as text and as a function of the values of its parts, in order.
func anyExpression(t *rapid.T, kernels []string, depth int, parts *[]string) (text string, value func(v []float64) float64) {
	what := rapid.IntRange(0, 5).Draw(t, "what")
	if depth == 0 {
		what = min(what, 2)
	}
	blank := rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "blank")
	switch {
	case what == 0:
		c := float64(rapid.IntRange(0, 40).Draw(t, "number")) / 8
		return fmt.Sprint(blank, c), func([]float64) float64 { return c }
	case what <= 2:
		k := rapid.SampledFrom(kernels).Draw(t, "kernel")
		i := len(*parts)
		*parts = append(*parts, k)
		return blank + k + blank, func(v []float64) float64 { return v[i] }
	}
	var texts []string
	var of []func([]float64) float64
	for range rapid.IntRange(2, 3).Draw(t, "of") {
		s, f := anyExpression(t, kernels, depth-1, parts)
		texts, of = append(texts, "("+s+")"), append(of, f)
	}
	if what == 3 { // a product binds, and needs brackets around sums alone
		return strings.Join(texts, blank+"*"), func(v []float64) float64 {
			p := 1.0
			for _, f := range of {
				p *= f(v)
			}
			return p
		}
	}
	return strings.Join(texts, "+"+blank), func(v []float64) float64 {
		s := 0.0
		for _, f := range of {
			s += f(v)
		}
		return s
	}
}

// An expression, however it is nested, is the sums and products of the values of its parts:
// of points in a row, in a sum at a point, and after the way through JSON; and it is
// positive semidefinite, as its parts are and its numbers are not negative.
func TestCombinedPoints(t *testing.T) {
	t.Parallel()
	texts := []string{"linear", "rbf(gamma=0.7)", "poly(gamma=0.5,coef0=1,degree=2)", "laplacian( gamma = 0.3 )", "fisher(components=2, starts=1)", "fisher(components=3, starts=1, information=false)"}
	x := mltest.Normal(rand.New(rand.NewPCG(8, 1)), 40, 2)
	kernels := map[string]Kernel{}
	for _, text := range texts {
		e := require.Value(parse(text, true))(t)
		kernels[text] = require.Value(e.parts[0].Fit(t.Context(), x, nil))(t)
	}
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		text, value := anyExpression(t, texts, 3, &parts)
		if len(parts) == 0 || len(parts) > maxParts {
			t.Skip()
		}
		k := New(combined.Name, param.Values{expressionParam.Name: param.Of(text)}, x)
		k, err := k.Fit(t.Context(), x, nil)
		if err == nil {
			err = errors.Join(k.Validate(), k.Check(2))
		}
		require.Must(t, err == nil, "%s: %v", text, err)
		if kind, err := k.Takes(); kind != dataset.KindVectors || err != nil || !k.Definite() {
			t.Fatalf("%s takes %q, %v, definite %v", text, kind, err, k.Definite())
		}
		back := require.Reread(t, k)
		require.Must(t, same(k, back), "%s was read again as %v", text, back)
		g, row, v := NewGram(back, x), make([]float64, 40), make([]float64, len(parts))
		for _, i := range []int{0, 7, 39} {
			g.Row(row, i)
			for j := range row {
				for a, p := range parts {
					v[a] = kernels[p].Eval(x.RawRowView(i), x.RawRowView(j))
				}
				want := value(v)
				require.Must(t, math.Abs(row[j]-want) <= 1e-9*max(1, math.Abs(want)), "%s: K[%d,%d] = %g, want %g", text, i, j, row[j], want)
			}
		}
		at := NewSum(back, x, []float64{1}).At(x.RawRowView(3))
		require.Must(t, at == k.Eval(x.RawRowView(3), x.RawRowView(0)), "%s: %g at a point", text, at)
	})
}

// TestNumbersAlone has numbers without a kernel in sums and products, whose value is a constant.
func TestNumbersAlone(t *testing.T) {
	t.Parallel()
	x := mltest.Normal(rand.New(rand.NewPCG(8, 2)), 5, 2)
	w := []float64{1, -2, 0.5, 3, -1}
	for text, want := range map[string]func(k float64) float64{
		"2*(3*4) + linear":           func(k float64) float64 { return 24 + k },
		"2*(3*4)*linear":             func(k float64) float64 { return 24 * k },
		"2*3 + (4*5)*(6*7) + linear": func(k float64) float64 { return 846 + k },
		"(2 + 3) + linear":           func(k float64) float64 { return 5 + k },
		"(2 + 3)*(4 + 5) + linear":   func(k float64) float64 { return 45 + k },
		"2*(3*(4 + 5)) + linear":     func(k float64) float64 { return 54 + k },
		"(2*3)*((4*5)*(linear + 1))": func(k float64) float64 { return 120 * (k + 1) },
	} {
		k := New(combined.Name, param.Values{expressionParam.Name: param.Of(text)}, x)
		f := NewSum(k, x, w)
		rows := make([]float64, 5)
		f.AtRows(t.Context(), rows, x)
		grid := make([]float64, 1)
		for i := range 5 {
			var sum float64
			for j, wj := range w {
				sum += wj * want(Linear().Eval(x.RawRowView(i), x.RawRowView(j)))
			}
			_ = f.Grid(t.Context(), grid, Plane{Origin: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}}, x.RawRowView(i)[:1], x.RawRowView(i)[1:])
			for _, got := range []float64{f.At(x.RawRowView(i)), rows[i], grid[0]} {
				require.Check(t, math.Abs(got-sum) <= 1e-11*(1+math.Abs(sum)), "%s: %g at point %d, want %g", text, got, i, sum)
			}
		}
	}
}

// The same of strings and graphs, with parts normalised or not.
func TestCombinedObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		x     dataset.Objects
	}{
		{
			[]string{"spectrum(k=2)", "spectrum(k=1, normalize=true)", "gap-subsequence(k=2, decay=0.25)", "gap-subsequence(k=3, normalize=true)"},
			&dataset.Strings{Name: "s", Values: []string{"cat", "cart", "bar", "a", "", "tatata"}},
		},
		{
			[]string{"wl(rounds=1)", "wl(rounds=2, normalize=true)", "random-walk(walk_weight=0.05)"},
			graphs(dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}, dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}, {0, 2}}}, dataset.Graph{N: 2, Edges: [][2]int{{0, 1}}}, dataset.Graph{N: 1}),
		},
	} {
		t.Run(c.texts[0], func(t *testing.T) {
			t.Parallel()
			n := c.x.Len()
			values := map[string]*mat.Dense{}
			for _, text := range c.texts {
				e := require.Value(parse(text, true))(t)
				values[text] = require.Value(Cross(t.Context(), e.parts[0].Kernel, c.x, c.x))(t)
			}
			rapid.Check(t, func(t *rapid.T) {
				var parts []string
				text, value := anyExpression(t, c.texts, 3, &parts)
				if len(parts) == 0 || len(parts) > maxParts {
					t.Skip()
				}
				k := New(combined.Name, param.Values{expressionParam.Name: param.Of(text)}, nil)
				if kind, err := k.Takes(); kind != c.x.Kind() || err != nil || !k.Definite() || k.Validate() != nil {
					t.Fatalf("%s takes %q, %v, definite %v, %v", text, kind, err, k.Definite(), k.Validate())
				}
				cross := require.Value(Cross(t.Context(), k, c.x, c.x))(t)
				g := require.Value(GramOf(t.Context(), k, c.x, nil))(t)
				self := require.Value(Self(t.Context(), k, c.x))(t)
				row, v := make([]float64, n), make([]float64, len(parts))
				for i := range n {
					g.Row(row, i)
					for j := range n {
						for a, p := range parts {
							v[a] = values[p].At(i, j)
						}
						want := value(v)
						for _, got := range []float64{row[j], cross.At(i, j), map[bool]float64{true: self[i], false: want}[i == j]} {
							require.Near(t, got, want, 1e-12*max(1, math.Abs(want)), "%s: K[%d,%d]", text, i, j)
						}
					}
				}
			})
		})
	}
}

// Words are worked out for the rows, and the text says what they are.
func TestCombinedWords(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(2, 2, []float64{0, 2, 4, 6}) // variance 5
	k := New("combined", param.Values{"expression": param.Of("(rbf+2)*rbf(gamma=scale) + -0.5*poly(gamma=3)")}, x)
	got, want := k.Values.Text("expression"), "(rbf(gamma=0.5) + 2)*rbf(gamma=0.1) + -0.5*poly(gamma=3, coef0=0, degree=3)"
	require.Check(t, got == want, "%s, want %s", got, want)
	require.Check(t, !k.Definite(), "taken for positive semidefinite with a negative number")
	// A width beyond what may be typed is read back.
	tiny := New("combined", param.Values{"expression": param.Of("rbf(gamma=scale)")}, mat.NewDense(2, 1, []float64{1e-7, 3e-7}))
	require.Equal(t, tiny.Validate(), nil, "tiny.Validate()")
	require.Check(t, !combine("sigmoid + linear").Definite() && combine("poly + linear*0").Definite() && !combine("poly(coef0=-1)").Definite(),
		"definite or not")
	// Two kernels that learn, one recorder.
	heard := 0
	k, err := combine("fisher(components=1)*fisher").Fit(t.Context(), mltest.Normal(rand.New(rand.NewPCG(1, 1)), 9, 2), func(trace.Step) { heard++ })
	require.Check(t, err == nil && len(k.Fitted) == 2 && k.Fitted[0].Len() == 1 && k.Fitted[1].Len() == 2 && heard != 0 && k.Learns(),
		"%v: %d mixtures, %d steps", err, len(k.Fitted), heard)
	k.Fitted = k.Fitted[:1]
	err = k.Check(2)
	require.Check(t, err != nil && math.IsNaN(k.Eval([]float64{1, 2}, []float64{1, 2})), "one mixture is missing: %v", err)
}

func TestExpressionErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "character 1: expected a kernel, a number or (, found the end",
		"  ":                          "character 3: expected a kernel, a number or (, found the end",
		"2*3":                         "character 1: expected a kernel, found only numbers",
		"linear +":                    "character 9: expected a kernel, a number or (, found the end",
		"linear rbf":                  `character 8: expected + or *, found "r"`,
		"linear - rbf":                `character 8: expected + or *, found "-"`,
		"(linear":                     "character 8: expected +, * or ), found the end",
		"linear)":                     `character 7: expected + or *, found ")"`,
		"× + linear":                  `character 1: expected a kernel, a number or (, found "×"`,
		"linear + é":                  `character 10: kernel "é" is not known`,
		"linear * ?":                  `character 10: expected a kernel, a number or (, found "?"`,
		"gauss":                       `character 1: kernel "gauss" is not known; use linear, poly`,
		"combined":                    `character 1: kernel "combined" is not known`,
		"rbf(gamma=0)":                "character 11: gamma must be a number above 0",
		"rbf(gamma=)":                 "character 11: gamma must be a number above 0",
		"rbf(gamma=wide)":             `character 11: gamma must be a number above 0 and at most 1e9, or auto or scale, not "wide"`,
		"rbf(degree=2)":               "character 5: rbf has no parameter degree; it has gamma",
		"linear(gamma=2)":             "character 8: linear has no parameter gamma; it has none",
		"rbf(gamma=1, gamma=2)":       "character 14: gamma is given twice",
		"rbf(gamma 1)":                `character 11: expected =, found "1"`,
		"rbf(gamma=1":                 "character 12: expected a comma or ), found the end",
		"rbf(,)":                      `character 5: expected a parameter of rbf, found ","`,
		"poly(degree=1.5)":            "character 13: degree must be a whole number from 1 to 20",
		"1e999*linear":                `character 1: expected a finite number, found "1e999"`,
		"1.2.3*linear":                `character 1: expected a finite number, found "1.2.3"`,
		"2-3*linear":                  `character 2: expected + or *, found "-"`,
		"rbf + spectrum":              "character 7: spectrum compares strings",
		"wl*spectrum":                 "character 4: spectrum compares strings",
		strings.Repeat("(", 17):       "character 17: expected at most 16 nested brackets",
		strings.Repeat("linear+", 33): "character 225: expected at most 32 kernels",
	} {
		_, err := parse(text, true)
		require.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "%q: %v, want %s", text, err, want)
		if err := expressionParam.Check(text); err == nil || !strings.HasPrefix(err.Error(), "expression: ") {
			t.Errorf("%q passes as a parameter: %v", text, err)
		}
		if strings.HasPrefix(want, "character 11: gamma must") || strings.HasPrefix(text, "poly(degree") {
			continue // what was stored is shown: Validate tells
		}
		k := combine(text)
		if _, err := k.Takes(); err == nil || k.Check(2) == nil || k.Validate() == nil || k.Definite() || k.Learns() {
			t.Errorf("%q: nothing is wrong with the kernel", text)
		}
		v := k.Eval([]float64{1, 2}, []float64{1, 2})
		require.Check(t, math.IsNaN(v), "%q evaluates to %g", text, v)
	}
	require.Fails(t, expressionParam.Check("linear"+strings.Repeat(" ", 1995)), "2000", "2001 characters")
	for _, bad := range []string{"rbf(gamma=0)", "rbf(gamma=wide)", "2*poly(degree=1.5)"} {
		require.Check(t, combine(bad).Validate() != nil, "%s is valid", bad)
	}
}

// FuzzExpression reads anything, and what it reads it writes as it reads it again.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"linear", "0.5*linear + rbf(gamma=2)*(poly(degree=2) + 1e-3)", "-1*fisher(information=false)", "((spectrum))*gap-subsequence(k=2,decay=1)", "(linear*linear)*(rbf + -2)", "é+", "rbf(gamma=auto"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text, true)
		if err != nil {
			return
		}
		again, err := parse(e.String(), false)
		require.Check(t, err == nil && again.String() == e.String(), "%q is %q, and that %q, %v", text, e, again, err)
	})
}
