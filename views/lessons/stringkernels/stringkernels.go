// Package stringkernels is the lesson on kernels for strings.
package stringkernels

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	first  = lessons.TextControl{Name: "x1", Label: "first word", Default: "banana", Max: 12}
	second = lessons.TextControl{Name: "x2", Label: "second word", Default: "bandana", Max: 12}
	third  = lessons.TextControl{Name: "x3", Label: "third word", Default: "cabin", Max: 12}
	worth  = lessons.ChoiceControl{Name: "worth", Label: "a piece is worth", Default: "present", Options: []param.Option{
		{Name: "present", Label: "1 if it is there"}, {Name: "count", Label: "its count"}, {Name: "weighted", Label: "its count, with gaps (λ = 0.5)"},
	}}
	pieces = lessons.IntegerControl{Name: "k", Label: "symbols of a piece", Symbol: "k", Default: "2", Min: 1, Max: 3, Low: 1, High: 3}

	left  = lessons.TextControl{Name: "x", Label: "string x", Default: "GATTACAGATTACCA", Max: 40}
	right = lessons.TextControl{Name: "z", Label: "string z", Default: "CATTAGAGATACA", Max: 40}
	mer   = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "3", Min: 1, Max: mostMer, Low: 1, High: mostMer}

	decay = lessons.NumberControl{Name: "decay", Label: "decay", Symbol: "λ", Default: "0.5", Min: 0.01, Max: 1, Low: 0.01, High: 1, Help: "Weight of each symbol that is left out."}
	seven = lessons.SwitchControl{Name: "seven", Label: "only the seven columns", Default: "true", Help: "Add up the columns first."}

	tableX     = lessons.TextControl{Name: "x", Label: "string x, downwards", Default: "cat", Max: 6}
	tableZ     = lessons.TextControl{Name: "z", Label: "string z, across", Default: "cart", Max: 6}
	tableK     = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "2", Min: 1, Max: 3, Low: 1, High: 3}
	tableDecay = lessons.NumberControl{Name: "decay", Label: "decay", Symbol: "λ", Default: "0.5", Min: 0.05, Max: 1, Low: 0.05, High: 1}

	longX = lessons.TextControl{Name: "x", Label: "string x", Default: "science is organized knowledge", Max: 40}
	longZ = lessons.TextControl{Name: "z", Label: "string z", Default: "wisdom is organized life", Max: 40}
	longK = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "3", Min: 1, Max: 6, Low: 1, High: 6}

	size     = lessons.IntegerControl{Name: "n", Label: "symbols of either string", Symbol: "n", Default: "20", Min: 6, Max: 200, Low: 6, High: 200, Log: true}
	costK    = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "4", Min: 1, Max: 6, Low: 1, High: 6}
	alphabet = lessons.IntegerControl{Name: "letters", Label: "letters of the alphabet", Default: "4", Min: 2, Max: 26, Low: 2, High: 26}

	validWords = lessons.TextControl{Name: "words", Label: "words", Default: "car arca cat rat arc carat", Max: 60, Help: "With spaces between; eight at most."}
	similarity = lessons.ChoiceControl{Name: "similarity", Label: "similarity", Default: "gap", Options: []param.Option{
		{Name: "gap", Label: "gap-weighted, k = 2"}, {Name: "spectrum", Label: "spectrum, k = 2"}, {Name: "longest", Label: "longest common piece"},
	}}

	machineKernel = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "spectrum", Options: []param.Option{
		{Name: "spectrum", Label: "spectrum"}, {Name: "gap-subsequence", Label: "gap-weighted, λ = 0.5"},
	}}
	machineK  = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "3", Min: 1, Max: 6, Low: 1, High: 6}
	mutations = lessons.NumberControl{Name: "noise", Label: "mutations", Default: "0.1", Min: 0, Max: 0.75, Low: 0, High: 0.75, Help: "Probability that a planted letter is another one."}
	cost      = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	seed      = lessons.IntegerControl{Name: "seed", Label: "seed", Default: "1", Min: 1, Max: 1000, Low: 1, High: 20}
	own       = lessons.TextControl{Name: "own", Label: "a string of your own", Default: "ACGTACGTACGTACGT", Max: 60}
)

// mostMer is the largest k on the spectrum screen.
const mostMer = 8

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "string-kernels",
		Task: "data=dna&kernel=spectrum",
		Screens: []lessons.Screen{
			{
				Slug:    "objects",
				Demo:    lessons.NewDemo(showObjects, first, second, third, worth, pieces),
				Answers: map[string]lessons.Answer{"needed": needed},
			},
			{
				Slug: "spectrum",
				Demo: lessons.NewDemo(showSpectrum, left, right, mer),
				Answers: map[string]lessons.Answer{
					"anagram": func(ctx context.Context) float64 {
						return value(ctx, spectrumKernel(1, true), "listen", "silent")
					},
					"mers": func(context.Context) (n float64) {
						for _, times := range kernel.KMers(strings.Repeat("AC", 6), 3) {
							n += times
						}
						return n
					},
				},
			},
			{
				Slug: "gaps",
				Demo: lessons.NewDemo(showGaps, decay, seven),
				Answers: map[string]lessons.Answer{
					"missing": missing,
					"all":     func(ctx context.Context) float64 { return value(ctx, gapKernel(2, 1, false), "aab", "ab") },
				},
			},
			{
				Slug:    "filling",
				Demo:    lessons.NewDemo(showFilling, tableX, tableZ, tableK, tableDecay),
				Answers: map[string]lessons.Answer{"corner": func(ctx context.Context) float64 { return corner(ctx) }},
			},
			{
				Slug: "weights",
				Demo: lessons.NewDemo(showWeights, longX, longZ, longK, tableDecay),
				Answers: map[string]lessons.Answer{
					"factor-of-ten": func(ctx context.Context) float64 {
						gaps := value(ctx, gapKernel(10, 0.5, false), "organized knowledge", "organized life")
						return gaps / theory.SpanWeight(gaps, 10, 0.5)
					},
				},
			},
			{
				Slug:    "cost",
				Demo:    lessons.NewDemo(showCost, size, costK, alphabet),
				Answers: map[string]lessons.Answer{"double": lessons.Is(entries(40, 3) / entries(20, 3))},
			},
			{Slug: "suffix", Demo: lessons.NewDemo(showSuffix, suffixWord, suffixK)},
			{
				Slug: "valid",
				Demo: lessons.NewDemo(showValid, validWords, similarity),
				Answers: map[string]lessons.Answer{
					"normal": func(ctx context.Context) float64 {
						k := gramOf(ctx, gapKernel(2, 0.5, true), strings.Fields(validWords.Default))
						return 2 * lessons.First(lessons.Must(theory.Mercer(k)).PSD)
					},
				},
			},
			{
				Slug:    "machine",
				Demo:    lessons.NewDemo(showMachine, machineKernel, machineK, mutations, cost, seed, own),
				Answers: map[string]lessons.Answer{"letters": letters},
			},
		},
	})
}

// spectrumKernel returns the lab's spectrum kernel with these parameters.
func spectrumKernel(k int, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "spectrum", Values: param.Values{"k": param.Of(k), "normalize": param.Of(normal)}}
}

func gapKernel(k int, decay float64, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(k), "decay": param.Of(decay), "normalize": param.Of(normal)}}
}

func gramOf(ctx context.Context, k kernel.Kernel, texts []string) *mat.SymDense {
	return theory.Gram(lessons.Must(kernel.GramOf(ctx, k, &dataset.Strings{Values: texts}, nil)))
}

func value(ctx context.Context, k kernel.Kernel, x, z string) float64 {
	return gramOf(ctx, k, []string{x, z}).At(0, 1)
}

// grid returns a picture of a kernel matrix with the names of the objects.
func grid(name, caption string, k mat.Matrix, texts []string) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(0, figure.Matrix{Name: "k", Values: k, Names: texts})}
}

func showObjects(_ context.Context, in lessons.Input) *lessons.Exhibit {
	texts := []string{first.Of(in), second.Of(in), third.Of(in)}
	k := pieces.Of(in)
	of := theory.Present(k)
	switch worth.Of(in) {
	case "count":
		of = theory.Counted(k)
	case "weighted":
		of = theory.Weighted(k, 0.5)
	}
	names, phi, err := theory.FeatureTable(texts, of)
	lessons.Check(err)
	var product mat.SymDense
	product.SymOuterK(1, phi)
	s := lessons.Must(theory.Mercer(&product))
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{grid("matrix", `$K = \Phi\,\Phi^\top$: each entry is the inner product of two rows of the table of features.`, &product, texts)},
		Tables:  []lessons.Table{featureTable("The features of each word, a column for each piece", texts, names, phi)},
		Numbers: []lessons.Number{
			{Label: "pieces that occur", Value: strconv.Itoa(pieceCount(names)), Help: "columns of the table; all others would be 0"},
			{Label: "smallest eigenvalue of $K$", Value: lessons.Short(s.Values[len(s.Values)-1]), Help: "never below 0, for $K$ is made of inner products"},
		},
	}
	if pieceCount(names) == 0 {
		e.Notes = []string{"Every word is shorter than a piece, so there are no features and every value is 0."}
	}
	return e
}

// pieceCount returns the number of columns in a table of features.
func pieceCount(names []string) int {
	if names[0] == "" {
		return 0
	}
	return len(names)
}

func featureTable(caption string, texts, names []string, phi *mat.Dense) lessons.Table {
	t := lessons.Table{Caption: caption, Head: append([]string{"word"}, lists.Map(names, visible)...)}
	t.Rows = lists.Make(len(texts), func(i int) []string {
		return append([]string{visible(texts[i])}, lists.Map(phi.RawRowView(i), views.Short)...)
	})
	return t
}

// visible formats user text with visible spaces.
func visible(text string) string {
	return lessons.Literal(strings.ReplaceAll(text, " ", "␣"))
}

// needed shows that an arbitrary similarity is not a kernel.
func needed(context.Context) float64 {
	if lessons.Must(theory.Mercer(longestMatrix(strings.Fields(validWords.Default)))).PSD {
		return 1
	}
	return 2
}

func showSpectrum(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	x, z, k := left.Of(in), right.Of(in), mer.Of(in)
	plain, normal, distinct := make([]float64, mostMer), make([]float64, mostMer), make([]float64, mostMer)
	ks := make([]float64, mostMer)
	for a := range ks {
		ks[a] = float64(a + 1)
		plain[a] = value(ctx, spectrumKernel(a+1, false), x, z)
		normal[a] = value(ctx, spectrumKernel(a+1, true), x, z)
		names, _, err := theory.FeatureTable([]string{x, z}, theory.Counted(a+1))
		lessons.Check(err)
		distinct[a] = float64(pieceCount(names))
	}
	names, phi, err := theory.FeatureTable([]string{x, z}, theory.Counted(k))
	lessons.Check(err)
	letters, _, err := theory.FeatureTable([]string{x, z}, theory.Counted(1))
	lessons.Check(err)
	size := float64(max(1, pieceCount(letters)))
	possible := lists.Make(mostMer, func(a int) float64 { return math.Pow(size, float64(a+1)) })
	table := lessons.Table{Caption: "Counts of the k-mers and their products", Head: []string{"k-mer", "in x", "in z", "product"}}
	for j, u := range names[:pieceCount(names)] {
		a, b := phi.At(0, j), phi.At(1, j)
		if a*b > 0 {
			table.Marked = append(table.Marked, j)
		}
		table.Rows = append(table.Rows, []string{visible(u), views.Short(a), views.Short(b), views.Short(a * b)})
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "similarity", Caption: `The normalised kernel of the two strings for each $k$; the vertical line is the one chosen.`, Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "k"}, Y: figure.Axis{Name: "normalised kernel", Min: 0, Max: 1.02}, Here: new(float64(k)),
				Curves: []figure.Curve{{Name: "k(x, z), normalised", X: ks, Y: normal, Marks: true}},
			})},
			{Name: "pieces", Caption: `How many k-mers there could be over the letters that occur, and how many there are in the two strings.`, Wide: true, Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "k"}, Y: figure.Axis{Name: "k-mers", Log: true}, Here: new(float64(k)),
				Curves: []figure.Curve{{Name: "possible", X: ks, Y: possible, Marks: true}, {Name: "in the strings", X: ks, Y: distinct, Marks: true}},
			})},
		},
		Numbers: []lessons.Number{
			{Label: "$k_k(x, z)$", Value: views.Short(plain[k-1]), Help: "sum of the products in the table"},
			{Label: `$\hat k_k(x, z)$`, Value: views.Short(normal[k-1]), Help: `divided by $\sqrt{k_k(x, x)\,k_k(z, z)}$; 0 where a string has no k-mer`},
			{Label: `$\lvert A\rvert^k$`, Value: views.Short(possible[k-1]), Help: fmt.Sprintf("features, with the %s that occur here", lessons.Count(int(size), "letter", "letters"))},
			{Label: "k-mers in the two strings", Value: views.Short(distinct[k-1]), Help: "features that are not 0 for both"},
		},
		Tables: []lessons.Table{table},
	}
}

// three holds the words of the example, and sevenColumns all their subsequences but one.
var (
	three        = []string{"cat", "cart", "bar"}
	sevenColumns = []string{"ca", "ct", "cr", "ar", "rt", "ba", "br"}
)

// threeFeatures returns the features of the three words, and the names of all features, the seven
// columns first.
func threeFeatures() (names []string, features []map[string]theory.GapPolynomial) {
	names = slices.Clone(sevenColumns)
	for _, w := range three {
		f := lessons.Must(theory.SubsequenceFeatures(w, 2))
		features = append(features, f)
		for u := range f {
			if !slices.Contains(names, u) {
				names = append(names, u)
			}
		}
	}
	slices.Sort(names[len(sevenColumns):])
	return names, features
}

// columns selects some of the features.
func columns(f map[string]theory.GapPolynomial, names []string) map[string]theory.GapPolynomial {
	kept := make(map[string]theory.GapPolynomial)
	for _, u := range names {
		if p, ok := f[u]; ok {
			kept[u] = p
		}
	}
	return kept
}

// missing finds the shared subsequence missing from the seven columns.
func missing(context.Context) float64 {
	names, features := threeFeatures()
	for _, u := range names[len(sevenColumns):] {
		if len(features[0][u]) > 0 && len(features[1][u]) > 0 {
			return float64(slices.Index([]string{"tr", "at", "rt", "ac"}, u))
		}
	}
	panic(lessons.Failf("stringkernels: the seven columns have every piece that cat and cart share"))
}

func showGaps(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	lambda := decay.Of(in)
	names, features := threeFeatures()
	if seven.Of(in) {
		names = sevenColumns
	}
	table := lessons.Table{Caption: "The features of the three words, a column for each piece of two symbols", Head: []string{"word"}}
	table.Head = append(table.Head, names...)
	for i, w := range three {
		row := lists.Map(names, func(u string) string { return "$" + features[i][u].TeX() + "$" })
		table.Rows = append(table.Rows, append([]string{w}, row...))
	}
	g := gramOf(ctx, gapKernel(2, lambda, false), three)
	e := &lessons.Exhibit{}
	sums := lessons.Table{Caption: "What the columns add up to, and the kernel of the lab, which lists nothing", Head: []string{"words", "sum of the columns", "its value", "kernel"}}
	difference := 0.0
	for n, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		sum := theory.SubsequenceKernel(columns(features[p[0]], names), features[p[1]])
		added, whole := sum.At(lambda), g.At(p[0], p[1])
		if lessons.Flush(whole-added, 1e-12) != 0 {
			difference += whole - added
			sums.Marked = append(sums.Marked, n)
		}
		sums.Rows = append(sums.Rows, []string{three[p[0]] + ", " + three[p[1]], "$" + sum.TeX() + "$", views.Short(added), views.Short(whole)})
	}
	table.After, sums.After = !seven.Of(in), !seven.Of(in) // they reveal the missing one
	e.Tables = []lessons.Table{table, sums}
	if difference != 0 {
		e.Notes = []string{fmt.Sprintf("The columns and the kernel of *cat* and *cart* differ by %s: a piece is missing.", views.Short(difference))}
	} else {
		e.Notes = []string{"The columns add up to the kernel."}
	}
	curves := make([]figure.Curve, 2)
	for n, c := range [][]string{sevenColumns, nil} {
		f := features[0]
		curves[n].Name = "all pieces"
		if c != nil {
			f = columns(f, c)
			curves[n].Name = "seven columns"
		}
		sum := lessons.CurveOf(0.01, 1, 49, theory.SubsequenceKernel(f, features[1]).At)
		curves[n].X, curves[n].Y = sum.X, sum.Y
	}
	if seven.Of(in) {
		curves = curves[:1]
	}
	shared := aligned(names, features, lambda)
	e.Figures = []lessons.Figure{shared, {Name: "decay", Caption: `$k(\text{cat}, \text{cart})$ against $\lambda$. The vertical line is the $\lambda$ chosen.`, Draw: lessons.Draws(2, figure.Chart{
		X: figure.Axis{Name: "λ", Min: 0, Max: 1}, Y: figure.Axis{Name: "k(cat, cart)", Min: 0, Max: 3.2}, Curves: curves, Hidden: len(curves) - 1, Here: &lambda,
	})}}
	if !seven.Of(in) {
		some := aligned(sevenColumns, features, lambda)
		e.Figures[0] = shared.Instead(some, `*cat* above *cart*, once for each piece that both have; green: its symbols. Thick rims: gaps, each at the price of $\lambda$. One piece is missing.`)
		e.Figures[1].Asks = `$k(\text{cat}, \text{cart})$ against $\lambda$, by the seven columns. Which piece do they leave out?`
		e.Notes, e.After = nil, e.Notes
	}
	return e
}

// aligned draws the first two words above each other, once per common subsequence: its symbols
// joined, and the skipped symbols in the colour of gaps.
func aligned(names []string, features []map[string]theory.GapPolynomial, lambda float64) lessons.Figure {
	var of []figure.Network
	for _, u := range names {
		if len(features[0][u]) == 0 || len(features[1][u]) == 0 {
			continue
		}
		w := figure.Network{Name: fmt.Sprintf("%s: %s · %s = %s", u, powerOf(features[0][u]), powerOf(features[1][u]), views.Short(features[0][u].At(lambda)*features[1][u].At(lambda)))}
		var ends [2][2]int // nodes of the two symbols in either word
		for row, word := range three[:2] {
			from, to := strings.IndexByte(word, u[0]), strings.LastIndexByte(word, u[1])
			if g := to - from - 1; g < 0 || len(features[row][u]) != g+1 || features[row][u][g] != 1 {
				panic(lessons.Failf("stringkernels: %q occurs in %q more than once", u, word))
			}
			start := w.Graph.N
			for i := range word {
				n := figure.Node{Text: word[i : i+1], Color: figure.Muted}
				switch {
				case i == from || i == to:
					n.Color, n.Shade = figure.Green, 1
				case from < i && i < to:
					n.Color, n.Shade, n.Ring = figure.Magenta, 0.7, true
				}
				w.Nodes, w.Places = append(w.Nodes, n), append(w.Places, [2]float64{float64(i), 1.3 * float64(row)})
				if i > 0 {
					w.Graph.Edges = append(w.Graph.Edges, [2]int{start + i - 1, start + i})
				}
			}
			w.Graph.N += len(word)
			ends[row] = [2]int{start + from, start + to}
		}
		w.Strong = [][2]int{{ends[0][0], ends[1][0]}, {ends[0][1], ends[1][1]}}
		of = append(of, w)
	}
	return lessons.Figure{Name: "aligned", Caption: `*cat* above *cart*, once for each piece that both have; green: its symbols. Thick rims: gaps, each at the price of $\lambda$.`, Draw: lessons.Draws(0, figure.Networks{
		Networks: of,
	})}
}

// powerOf formats the weight of one occurrence.
func powerOf(p theory.GapPolynomial) string {
	switch g := len(p) - 1; g {
	case 0:
		return "1"
	case 1:
		return "λ"
	default:
		return "λ" + string([]rune("²³⁴⁵⁶")[g-2])
	}
}

// recursion holds the rules for the entries of the tables: of A_1, of each B, of each further A.
var recursion = lessons.Lines(files, "recursion")

// tableName returns the letter and the level of a table of the replay.
func tableName(s stepwise.SubsequenceTables, table int) (letter string, p int) {
	p, isA := s.Level(table)
	return lists.Either(isA, "A", "B"), p
}

func showFilling(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	x, z, k, lambda := tableX.Of(in), tableZ.Of(in), tableK.Of(in), tableDecay.Of(in)
	r := lessons.Must(stepwise.Subsequences(ctx, x, z, k, lambda))
	truth := value(ctx, gapKernel(k, lambda, false), x, z)
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	e := &lessons.Exhibit{Steps: r.Len(), Step: step, Rules: true, Figures: []lessons.Figure{tablesFigure(s)}}
	table, i, j, ok := s.Last()
	if !ok {
		e.Body = lessons.Derivation(-1, recursion()...)
		e.Numbers = []lessons.Number{{Label: "places in each table", Value: strconv.Itoa(len(s.X) * len(s.Z)), Help: "a pair of symbols each"}}
		e.Notes = []string{lists.Either(len(s.X)*len(s.Z) == 0, "A string without symbols has no table: its kernel with any other is 0.", "All tables are empty. ~Step through them: each entry is filled from those that are dashed.~")}
		return e
	}
	letter, p := tableName(s, table)
	rule := 0
	switch {
	case letter == "B":
		rule = 1
	case p > 1:
		rule = 2
	}
	e.Body = lessons.Derivation(rule, recursion()...)
	v, _ := s.At(table, i, j)
	e.Numbers = []lessons.Number{
		{Label: fmt.Sprintf("$%s_{%d}(%d, %d)$", letter, p, i+1, j+1), Value: views.Short(v), Help: "$= " + sumTeX(s, table, i, j) + "$"},
		{Label: fmt.Sprintf("symbols $x_{%d}$ and $z_{%d}$", i+1, j+1), Value: string(s.X[i]) + " and " + string(s.Z[j]), Help: lists.Either(s.X[i] == s.Z[j], "a match", "no match")},
		{Label: fmt.Sprintf("sum of $A_{%d}$ so far", k), Value: views.Short(s.Sum()), Help: "at the end the kernel"},
	}
	if step == r.Len()-1 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "$k(x, z)$ of the lab", Value: views.Short(truth), Help: "by the code that trains, which keeps two rows only"})
		e.Notes = []string{fmt.Sprintf("The last table is full: $k(x, z) = %s$.", lessons.TeX(s.Sum()))}
	}
	return e
}

// sumTeX formats the sum of an entry with its values.
func sumTeX(s stepwise.SubsequenceTables, table, i, j int) string {
	terms, constant := s.Terms(table, i, j)
	var b strings.Builder
	for n, t := range terms {
		switch {
		case t.Factor < 0:
			b.WriteString(" - ")
		case n > 0:
			b.WriteString(" + ")
		}
		if f := math.Abs(t.Factor); f != 1 || n > 0 {
			b.WriteString(lessons.TeX(f) + ` \cdot `)
		}
		b.WriteString(lessons.TeX(t.Value))
	}
	if len(terms) == 0 {
		return lessons.TeX(constant)
	}
	return b.String()
}

func tablesFigure(s stepwise.SubsequenceTables) lessons.Figure {
	var t figure.Tables
	names := func(symbols []rune) []string {
		return lists.Map(symbols, func(c rune) string { return string(c) })
	}
	for n := range s.Tables() {
		letter, p := tableName(s, n)
		g := figure.Grid{Name: letter + lessons.Subscript(p), Rows: names(s.X), Cols: names(s.Z), Values: make([][]float64, len(s.X))}
		switch {
		case n == s.Tables()-1:
			g.Name += ": adds up to k"
		case letter == "A":
			g.Name += ": ends here"
		default:
			g.Name += ": or earlier"
		}
		for i := range g.Values {
			for j := range s.Z {
				v, ok := s.At(n, i, j)
				if !ok {
					v = math.NaN()
				}
				g.Values[i] = append(g.Values[i], v)
			}
		}
		t.Tables = append(t.Tables, g)
	}
	if table, i, j, ok := s.Last(); ok {
		t.Now = &figure.Cell{Table: table, Row: i, Col: j}
		terms, _ := s.Terms(table, i, j)
		for _, u := range terms {
			t.From = append(t.From, figure.Cell{Table: u.Table, Row: u.Row, Col: u.Col})
		}
	}
	return lessons.Figure{Name: "tables", Caption: "The framed entry was filled last; dashed are those that it was computed from. The stronger the colour, the larger the entry.", Draw: lessons.Draws(1, t)}
}

// corner finds how often a single match is counted if no corner is subtracted.
func corner(ctx context.Context) float64 {
	r := lessons.Must(stepwise.Subsequences(ctx, "ab", "ac", 2, 1))
	s := r.At(r.Len() - 1)
	above, _ := s.At(1, 0, 1)
	beside, _ := s.At(1, 1, 0)
	if at, _ := s.At(1, 1, 1); above+beside == 2*at {
		return 1
	}
	panic(lessons.Failf("stringkernels: a match is not counted twice"))
}

func showWeights(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	x, z, k, lambda := longX.Of(in), longZ.Of(in), longK.Of(in), tableDecay.Of(in)
	const most = 6
	var ks, gaps, span, normal []float64
	table := lessons.Table{Caption: "Both weightings, and the normalised value that they share", Head: []string{"$k$", "by gaps", "by span", "normalised"}, Marked: []int{k - 1}}
	for a := 1; a <= most; a++ {
		g := value(ctx, gapKernel(a, lambda, false), x, z)
		n := value(ctx, gapKernel(a, lambda, true), x, z)
		s := theory.SpanWeight(g, a, lambda)
		ks, gaps, span, normal = append(ks, float64(a)), append(gaps, g), append(span, s), append(normal, n)
		table.Rows = append(table.Rows, []string{strconv.Itoa(a), views.Short(g), views.Short(s), views.Long(n)})
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "weights", Caption: `$k(x, z)$ under the two weightings, on a logarithmic axis.`, Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "k"}, Y: figure.Axis{Name: "k(x, z)", Log: true}, Here: new(float64(k)),
				Curves: []figure.Curve{{Name: "weights by gaps", X: ks, Y: gaps, Marks: true}, {Name: "weights by span", X: ks, Y: span, Marks: true}},
			})},
			{Name: "normalised", Caption: "Normalised, the two are the same curve.", Wide: true, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "k"}, Y: figure.Axis{Name: "normalised", Min: 0, Max: 1.02}, Here: new(float64(k)),
				Curves: []figure.Curve{{Name: "either weighting", X: ks, Y: normal, Marks: true}},
			})},
		},
		Numbers: []lessons.Number{
			{Label: `$k_{\text{gaps}}(x, z)$`, Value: views.Short(gaps[k-1]), Help: `each occurrence weighs $\lambda^{\text{gaps}}$`},
			{Label: `$\lambda^{2k}$`, Value: views.Short(theory.SpanWeight(1, k, lambda)), Help: `$k_{\text{span}}$ over $k_{\text{gaps}}$: the distance grows by $\lambda^2$ with every symbol`, After: true},
			{Label: `$k_{\text{span}}(x, z)$`, Value: views.Short(span[k-1]), Help: `each occurrence weighs $\lambda^{\text{span}}$`},
			{Label: `$\hat k(x, z)$`, Value: views.Long(normal[k-1]), Help: "normalised, by gaps or by span"},
		},
		Tables: []lessons.Table{table},
	}
}

// entries returns the number of entries in the tables of two strings of n symbols.
func entries(n, k int) float64 { return float64((2*k - 1) * n * n) }

func showCost(_ context.Context, in lessons.Input) *lessons.Exhibit {
	n, k, letters := size.Of(in), costK.Of(in), alphabet.Of(in)
	curves := lessons.CurvesOf(lists.Map(lessons.Logspace(6, 200, 40), math.Round), func(m float64) []float64 {
		ways := theory.Choose(int(m), k)
		return []float64{entries(int(m), k), ways * ways}
	}, "entries of the tables", "pairs of occurrences")
	features := math.Pow(float64(letters), float64(k))
	ways := theory.Choose(n, k)
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "cost", Caption: "Entries of the tables, and pairs of occurrences that a list would have to compare. Both axes are logarithmic.", Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: "symbols of either string", Log: true}, Y: figure.Axis{Name: "how many", Log: true}, Curves: curves, Here: new(float64(n)),
		})}},
		Numbers: []lessons.Number{
			{Label: `$(2k-1)\,n^2$`, Value: views.Short(entries(n, k)), Help: "entries of all tables", After: true},
			{Label: "$N^2$", Value: views.Short(ways * ways), Help: `pairs of occurrences, $N = n!/(k!\,(n-k)!)$ in either string`},
			{Label: `$\lvert A\rvert^k$`, Value: views.Short(features), Help: "columns of a table with all pieces"},
		},
	}
}

// longestMatrix returns the length of the longest common substring of every pair of words.
func longestMatrix(texts []string) *mat.SymDense {
	k := mat.NewSymDense(len(texts), nil)
	for i, x := range texts {
		for j, z := range texts[:i+1] {
			k.SetSym(i, j, float64(theory.LongestPiece(x, z)))
		}
	}
	return k
}

func showValid(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	const most = 8
	texts := strings.Fields(validWords.Of(in))
	if len(texts) == 0 {
		texts = strings.Fields(validWords.Default)
	}
	texts = texts[:min(len(texts), most)]
	var k *mat.SymDense
	switch similarity.Of(in) {
	case "longest":
		k = longestMatrix(texts)
	case "spectrum":
		k = gramOf(ctx, spectrumKernel(2, false), texts)
	default:
		k = gramOf(ctx, gapKernel(2, 0.5, false), texts)
	}

	s := lessons.Must(theory.Mercer(k))
	values := lists.Map(s.Values, func(v float64) float64 { return lessons.Flush(v, s.Zero()) })
	least := values[len(values)-1]
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "eigenvalues", Caption: "The eigenvalues of the matrix, largest first. A negative one is hatched and proves that the similarity is not an inner product.", Draw: lessons.Draws(1, figure.Bars{
				X: "eigenvalue", Y: "value", Values: values,
			})},
			grid("matrix", "The matrix itself.", k, texts),
		},
		Numbers: []lessons.Number{
			{Label: "words", Value: strconv.Itoa(len(texts)), Help: fmt.Sprintf("the first %d at most", most)},
			{Label: "smallest eigenvalue", Value: views.Short(least), Help: lists.Either(s.PSD, "none is below 0", "below 0: these words refute the similarity")},
		},
	}
	if !s.PSD {
		e.Notes = []string{"The matrix is not positive semidefinite: no features whatever have these inner products."}
	}
	return e
}

// The strings of the training screen: numbers for training and testing, drawn with the same two
// motifs, one per class, and their length in letters.
const (
	trained = 40
	fresh   = 120
	letterN = 30
)

// drawn returns the training strings and the new ones.
func drawn(noise float64, seed int) (train, test *dataset.Data) {
	return lessons.Parts("dna", param.Values{
		"n": param.Of(trained + fresh), "length": param.Of(letterN), "copies": param.Of(1), "noise": param.Of(noise), "seed": param.Of(seed),
	}, trained)
}

func showMachine(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	name, k := machineKernel.Of(in), machineK.Text(in)
	train, test := drawn(mutations.Of(in), seed.Of(in))
	pairs := []string{"kernel", name, "k", k, "normalize", "true", "C", cost.Text(in)}
	res := lessons.Fit(ctx, train, pairs...)
	points := res.Points()
	accuracy := lessons.Must(res.Model.Accuracy(test))
	compared := lessons.Must(ml.Compare(ctx, res.Model.Kernel, train))
	f := lessons.Must(res.Model.ScoresOf(ctx, &dataset.Strings{Values: []string{own.Of(in)}})).At(0, 0)
	right := lists.Count(points, func(p ml.Point) bool { return !p.Wrong })
	positive, negative := res.Model.Sides(0)
	single := name == machineKernel.Default && machineK.Of(in) == 1 // the question's setting
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Strip(fmt.Sprintf("The %d training strings at their values, class by class; the classes are named by their motifs.", train.Len()), res.Model, points, train.Classes),
			{Name: "matrix", Caption: "The kernel matrix of the training strings, class by class: the machine sees this and the labels.", Draw: func(l lessons.Look) (*figure.Picture, error) {
				return figure.KernelMatrix(compared, train, figure.Scene{Format: l.Format(0)})
			}},
		},
		Numbers: []lessons.Number{
			{Label: "$f$ of your string", Value: views.Short(f), Help: "at least 0: " + positive + "; below: " + negative},
			{Label: "right in training", Value: fmt.Sprintf("%d of %d", right, train.Len())},
			{Label: "right on fresh strings", Value: lessons.Percent(accuracy), Help: fmt.Sprintf("of %d strings with the same motifs that were not trained on", test.Len()), After: single},
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", res.Report.SupportVectors, train.Len())},
		},
		Lab: lessons.LabQuery("dna", pairs...),
	}
}

// letters compares single letters with longer substrings.
func letters(ctx context.Context) float64 {
	const seeds = 5
	var one, three float64
	for s := range seeds {
		for k, sum := range map[string]*float64{"1": &one, "3": &three} {
			train, test := drawn(0.1, s+1)
			res := lessons.Fit(ctx, train, "kernel", "spectrum", "k", k, "normalize", "true")
			*sum += lessons.Must(res.Model.Accuracy(test)) / seeds
		}
	}
	return lessons.First(one > 0.9, math.Abs(one-three) >= 0.01)
}
