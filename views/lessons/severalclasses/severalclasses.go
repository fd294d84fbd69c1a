// Package severalclasses is the lesson on more than two classes.
package severalclasses

import (
	"cmp"
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
	"marginlab/ml/eval"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	claimed = newProbe(-0.4, 0.4)
	voted   = newProbe(-2, -1)
	paying  = newProbe(-0.5, -0.8)
	price   = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	factor  = lessons.NumberControl{Name: "factor", Label: "multiply w and b of machine A by", Default: "4", Min: 0.1, Max: 10, Low: 0.1, High: 10, Log: true}
	joint   = lessons.ChoiceControl{Name: "way", Label: "machine", Default: "ww", Options: []param.Option{{Name: "ww", Label: "Weston and Watkins"}, {Name: "cs", Label: "Crammer and Singer"}}}
	class   = lessons.ChoiceControl{Name: "class", Label: "class of your point", Default: "A", Options: []param.Option{{Name: "A", Label: "A"}, {Name: "B", Label: "B"}, {Name: "C", Label: "C"}}}
	with    = lessons.ChoiceControl{Name: "with", Label: "kernel", Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF"}}}
	width   = lessons.NumberControl{Name: "gamma", Label: "RBF width", Symbol: "γ", Default: "0.5", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
	number  = lessons.IntegerControl{Name: "k", Label: "classes", Symbol: "k", Default: "5", Min: 2, Max: 100, Low: 2, High: 20}
	points  = lessons.IntegerControl{Name: "n", Label: "points", Symbol: "n", Default: "1000", Min: 100, Max: 100_000, Low: 100, High: 10_000, Log: true}
	asked   = lessons.ChoiceControl{Name: "set", Label: "data", Default: "iris", Options: []param.Option{{Name: "iris", Label: "Iris, petals"}, {Name: "sepals", Label: "Iris, sepals"}, {Name: "cross", Label: "five clouds"}}}
	set     = lessons.ChoiceControl{Name: "set", Label: "data", Default: "cross", Options: []param.Option{
		{Name: "three", Label: "three clouds"},
		{Name: "cross", Label: "five clouds"},
		{Name: "pinwheel", Label: "pinwheel"},
		{Name: "iris", Label: "Iris, petals"},
	}}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "several-classes",
		Task: "data=iris",
		Screens: []lessons.Screen{
			{
				Slug: "rest",
				Demo: lessons.NewDemo(showRest, price, claimed),
				Answers: map[string]lessons.Answer{
					"nobody": func(context.Context) float64 {
						m := ml.Model{Rule: ml.OneVsRest, Classes: strings.Split(classNames, "")}
						return float64(m.Class([]float64{-0.4, -0.9, -0.1}))
					},
					"share": lessons.Is(100. / 10),
				},
			},
			{Slug: "scale", Demo: lessons.NewDemo(showScale, factor), Answers: map[string]lessons.Answer{"double": quadrupled}},
			{
				Slug: "pairs",
				Demo: lessons.NewDemo(showPairs, price, voted),
				Answers: map[string]lessons.Answer{
					"ring": func(context.Context) float64 {
						m := ml.Model{Rule: ml.OneVsOne, Classes: strings.Split(classNames, "")}
						return float64(m.Class([]float64{-0.9, 0.5, -0.2}))
					},
					"count": func(context.Context) float64 {
						_, pairs, _ := theory.MulticlassWork(1000, 10)
						return float64(pairs.Problems)
					},
				},
			},
			{
				Slug: "slack",
				Demo: lessons.NewDemo(showSlack, joint, class, price, paying),
				Answers: map[string]lessons.Answer{
					"sum": func(context.Context) float64 {
						_, sum, _ := theory.ClassSlacks([]float64{0.6, 0.2, 0.9}, 0)
						return sum
					},
					"largest": func(context.Context) float64 {
						_, _, largest := theory.ClassSlacks([]float64{0.6, 0.2, 0.9}, 0)
						return largest
					},
				},
			},
			{Slug: "climb", Demo: lessons.NewDemo(showClimb, price), Answers: map[string]lessons.Answer{"alone": oneAtATime}},
			{
				Slug:    "four",
				Demo:    lessons.NewDemo(showFour, set, with, price, width),
				Answers: map[string]lessons.Answer{"claims": claimedByMiddle, "origin": middleWithoutBias},
			},
			{
				Slug: "cost",
				Demo: lessons.NewDemo(showCost, number, points),
				Answers: map[string]lessons.Answer{
					"work": func(context.Context) float64 {
						rest, pairs, _ := theory.MulticlassWork(1000, 10)
						return float64(1 + cmp.Compare(rest.Products, pairs.Products))
					},
				},
			},
			{Slug: "better", Demo: lessons.NewDemo(showBetter, asked, with), Answers: map[string]lessons.Answer{"behind": behind}},
		},
	})
}

// newProbe returns a draggable point with this initial position.
func newProbe(x, y float64) lessons.PlaceControl {
	return lessons.NewPlace("px", "your point x1", "py", "your point x2", [2]float64{x, y}, limits)
}

// bunch is a data set of the lesson.
type bunch struct {
	data *dataset.Data
	lab  []string // pairs that open it in the lab; nil: its points do
}

// toy holds points of the plane with their classes.
type toy struct {
	xy     [][2]float64
	labels string // a letter per point
}

// three holds clouds of which no two are opposite: there are points claimed by no class, points
// claimed by several, and ties of votes.
var three = toy{
	[][2]float64{
		{0.6, 0.3},
		{0.9, 1.9},
		{1.1, 0.9},
		{0.5, 1.1},
		{0.9, 1},
		{2, 1.8},
		{-0.1, 0.1},
		{0.7, 2},
		{-2.1, 1.6},
		{-2.3, 1.2},
		{-0.8, 1.4},
		{-2, 1.2},
		{-1, 2},
		{-0.7, 1.1},
		{-2, 0.8},
		{-1.9, 2},
		{0.1, -1.3},
		{-0.2, -1.4},
		{1.4, 0},
		{0.8, -1.8},
		{0.2, -0.4},
		{1.2, -1.1},
		{1.2, -0.7},
		{0.5, -0.7},
	},
	"AAAAAAAABBBBBBBBCCCCCCCC",
}

var limits = figure.Limits{XMin: -3.2, XMax: 3.2, YMin: -2.6, YMax: 2.6}

// classNames has a letter per class.
const classNames = "ABC"

// of returns the toy with these classes only.
func (t toy) of(classes string) (part toy) {
	for i, p := range t.xy {
		if c := t.labels[i : i+1]; strings.Contains(classes, c) {
			part.xy, part.labels = append(part.xy, p), part.labels+c
		}
	}
	return part
}

func (t toy) load() *dataset.Data {
	return lessons.Must(dataset.FromPoints(t.xy, strings.Split(t.labels, "")))
}

// load returns one of the sets of the lesson.
func load(name string) (b bunch) {
	switch name {
	case "three":
		b.data = three.load()
	case "cross":
		b.data = lessons.Must(dataset.Generate("cross", 60, 0.4, 1))
	case "pinwheel":
		b.data = lessons.Must(dataset.Generate("pinwheel", 60, 0.12, 1))
	case "iris", "sepals":
		columns := lists.Either(name == "sepals", []string{"sepal_length", "sepal_width"}, []string{"petal_length", "petal_width"})
		b.data = lessons.LoadData("iris")
		b.lab = []string{"features", strings.Join(columns, ",")}
		b.data = lessons.Must(b.data.Columns(columns))
	default:
		panic(lessons.Failf("no points are called %q", name))
	}
	return b
}

// open returns the query that opens the set in the lab with these parameters, given as pairs of
// name and value.
func (b bunch) open(pairs ...string) string {
	pairs = append([]string{"standardize", "false"}, pairs...)
	if b.lab != nil {
		return lessons.LabQuery("iris", append(pairs, b.lab...)...)
	}
	var points strings.Builder
	for i, c := range b.data.Y {
		x := b.data.X.RawRowView(i)
		fmt.Fprintf(&points, "%.4g,%.4g,%s\n", x[0], x[1], b.data.Classes[c])
	}
	return lessons.LabQuery("drawing", append(pairs, "points", points.String())...)
}

// machines holds the machines trained on a set.
type machines struct {
	*lessons.Fitted
	bunch
}

func fit(ctx context.Context, set string, pairs ...string) *machines {
	b := load(set)
	return &machines{lessons.Fit(ctx, b.data, append([]string{"tol", "1e-5"}, pairs...)...), b}
}

// at returns the scores of a model at a point of the plane.
func at(m *ml.Model, p [2]float64) []float64 {
	return m.Scores(mat.NewDense(1, 2, []float64{p[0], p[1]})).RawRowView(0)
}

// picture draws a model of the machines, with the probe if there is one.
func (t *machines) picture(name, caption string, m *ml.Model, probe *[2]float64) lessons.Figure {
	return lessons.Boundary(name, caption, m, t.data, t.Spec, func(s *figure.Scene) {
		s.Limits, s.LegendRows = limits, 3
		if probe != nil {
			s.Hollow = "your point"
			label := m.LabelOf(at(m, *probe)...)
			s.Points = append(s.Points, ml.Point{X: probe[:], Label: label, Predicted: label, HeldOut: true})
		}
	})
}

// alone draws machine k of three linear ones, with its training points and a probe.
func (t *machines) alone(k int, caption string, probe [2]float64) lessons.Figure {
	w, b, _ := t.Model.Alone(k).Linear()
	normal := [2]float64{w[0], w[1]}
	positive, negative := t.Model.Sides(k)
	marks := []figure.Mark{figure.Region{F: figure.Linear(normal, -b), Color: classColor(positive)}}
	below := figure.Region{F: figure.Linear([2]float64{-w[0], -w[1]}, b), Color: figure.Muted}
	seen := three
	if negative != "" {
		below.Color = classColor(negative)
		seen = three.of(positive + negative)
	}
	marks = append(append(marks, below, figure.Line{A: normal, C: -b, Name: "f = 0"}), lessons.MarginLines(normal, b)...)
	return lessons.Plane("machine", caption, limits, 2, marks, seen.dots(nil), []figure.Mark{figure.Dot{At: probe, Class: -1, Held: true, Label: "your point"}})
}

// classColor returns the colour of a class of the toy.
func classColor(name string) figure.Color { return figure.ClassColor(strings.Index(classNames, name)) }

const probeIs = " Hollow: your point, in the colour that it gets."

func showRest(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := fit(ctx, "three", "kernel", "linear", "C", price.Text(in), "multiclass", "ovr")
	p := claimed.Of(in)
	scores := at(t.Model, p)
	e := &lessons.Exhibit{
		Steps: len(scores) + 1, Step: min(in.Step, len(scores)),
		Handles: []lessons.Handle{claimed.Handle("your point", in)},
		Lab:     t.open("kernel", "linear", "C", price.Text(in), "multiclass", "ovr"),
	}
	if k := e.Step - 1; k < 0 {
		e.Figures = []lessons.Figure{t.picture("regions", `The class with the largest score. Hatched: no machine claims the place, or several do. ~Step through the machines.~`+probeIs, t.Model, &p)}
	} else {
		positive, _ := t.Model.Sides(k)
		e.Figures = []lessons.Figure{t.alone(k, fmt.Sprintf("Machine %s by itself: %s is $+1$, all others are $-1$.", positive, positive), p)}
	}
	table := lessons.Table{
		Caption: "A line for each machine, on the 24 points that all of them see.",
		Head:    []string{"machine", "$+1$", "$-1$", `margin $1/\lVert\mathbf w\rVert$`, "SVs", "errors"},
	}
	claims := 0
	for k, f := range scores {
		own := t.Report.Machines[k]
		accuracy := lessons.Must(t.Model.Alone(k).Accuracy(t.data))
		n := t.Report.Confusion[k].N
		table.Rows = append(table.Rows, []string{own.Positive, strconv.Itoa(n), strconv.Itoa(own.TrainN - n), views.Short(*own.Margin), strconv.Itoa(own.SupportVectors), strconv.Itoa(int(math.Round((1 - accuracy) * float64(own.TrainN))))})
		if f >= 0 {
			claims++
		}
		e.Numbers = append(e.Numbers, lessons.Number{Label: "$f_" + own.Positive + `(\mathbf x)$`, Value: views.Short(f), Help: lists.Either(f >= 0, "claims your point", "does not claim it")})
	}
	if e.Step > 0 {
		table.Marked = []int{e.Step - 1}
	}
	e.Tables = []lessons.Table{table}
	answer := t.Model.LabelOf(scores...)
	e.Numbers = append(e.Numbers, lessons.Number{Label: "answer", Value: answer, Help: "the largest of the three", After: true})
	switch {
	case claims == 0:
		e.Notes = []string{"Nobody claims your point: every machine says that it is of the rest."}
		e.After = []string{"The answer is " + answer + ", whose machine says so least loudly."}
	case claims > 1:
		e.Notes = []string{fmt.Sprintf("%d machines claim your point.", claims)}
		e.After = []string{"The answer is " + answer + ", whose machine is the loudest."}
	}
	return e
}

// louder returns a model with w and b of machine k multiplied by a factor.
func louder(m *ml.Model, k int, by float64) *ml.Model {
	changed := *m
	changed.Machines = slices.Clone(m.Machines)
	one := &changed.Machines[k]
	one.Coef = slices.Clone(one.Coef)
	for i := range one.Coef {
		one.Coef[i] *= by
	}
	one.B *= by
	return &changed
}

func showScale(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := fit(ctx, "three", "kernel", "linear", "multiclass", "ovr")
	const k = 0
	m := louder(t.Model, k, factor.Of(in))
	right := lists.Map([]*ml.Model{t.Model, m}, func(model *ml.Model) float64 { return lessons.Must(model.Accuracy(t.data)) })
	alone := lessons.Must(m.Alone(k).Accuracy(t.data))
	changed := t.overlay("overlay", `Where the answer has changed: hatched.`, []string{"as trained", "multiplied"}, t.Model, m).Afterwards()
	regions := t.picture("regions", `All machines as they were trained, but for $f_A$, which is multiplied.`, m, nil)
	if factor.Of(in) != 1 {
		lines := three.dots(nil)
		for _, class := range classNames {
			w, b, _ := t.Model.Alone(strings.IndexRune(classNames, class)).Linear()
			lines = append(lines, figure.Line{A: [2]float64{w[0], w[1]}, C: -b, Pen: figure.Pen{Color: classColor(string(class))}, Name: "f = 0 of " + string(class)})
		}
		regions = regions.Instead(lessons.Plane("regions", "", limits, 2, lines), "The line of each machine before. What becomes of the answers if $f_A$ is multiplied?")
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{regions, changed},
		Numbers: []lessons.Number{
			{Label: "machine A: points on their own side", Value: lessons.Percent(alone), Help: "does not depend on the factor", After: true},
			{Label: "all three: points right", Value: lessons.Percent(right[1]), Help: lessons.Percent(right[0]) + " as trained", After: true},
		},
		Lab: t.open("kernel", "linear", "C", "1", "multiclass", "ovr"),
	}
}

// overlay draws the boundaries of several models on the points of t.
func (t *machines) overlay(name, caption string, names []string, models ...*ml.Model) lessons.Figure {
	return lessons.Overlay(name, caption, names, func(l lessons.Look, i int) figure.Scene { return t.scene(models[i], l) })
}

// scene returns the basic picture of a model on the points of t.
func (t *machines) scene(m *ml.Model, l lessons.Look) figure.Scene {
	ps := lessons.Must(m.Points(t.data, t.Spec))
	return l.Scene(m, ps, lessons.Must(dataset.ColumnView(t.data, t.data.Features[0], t.data.Features[1])), t.data.Classes, 3)
}

// quadrupled computes the effect of the question's factor.
func quadrupled(ctx context.Context) float64 {
	t := fit(ctx, "three", "kernel", "linear", "multiclass", "ovr")
	m := louder(t.Model, 0, 4)
	claims, answers := false, false
	for x := limits.XMin; x < limits.XMax; x += 0.1 {
		for y := limits.YMin; y < limits.YMax; y += 0.1 {
			before, after := at(t.Model, [2]float64{x, y}), at(m, [2]float64{x, y})
			for k := range before {
				claims = claims || (before[k] >= 0) != (after[k] >= 0)
			}
			answers = answers || m.Class(before) != m.Class(after)
		}
	}
	switch {
	case claims:
		return 0
	case answers:
		return 2
	}
	return 3
}

func showPairs(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := fit(ctx, "three", "kernel", "linear", "C", price.Text(in), "multiclass", "ovo")
	p := voted.Of(in)
	scores := at(t.Model, p)
	classes := t.Model.Classes
	e := &lessons.Exhibit{
		Steps: len(scores) + 1, Step: min(in.Step, len(scores)),
		Handles: []lessons.Handle{voted.Handle("your point", in)},
		Lab:     t.open("kernel", "linear", "C", price.Text(in), "multiclass", "ovo"),
	}
	over := e.Step == len(scores) // all duels are over
	if over {
		e.Figures = []lessons.Figure{t.picture("regions", "The class with most votes. Hatched: all three have one vote, and the sums of their margins decide."+probeIs, t.Model, &p)}
	} else {
		e.Figures = []lessons.Figure{t.alone(e.Step, fmt.Sprintf("Duel %d of %d: %s. The third class takes no part.", e.Step+1, len(scores), ml.Versus(t.Model.Sides(e.Step))), p)}
	}
	table := lessons.Table{Caption: "A line for each pair, on the 16 points of its two classes.", Head: []string{"pair", "points", "SVs", `margin $1/\lVert\mathbf w\rVert$`, `$\lvert f(\mathbf x)\rvert$ at your point`, "votes for"}}
	var winners []string // of the duels so far
	for k, f := range scores {
		own := t.Report.Machines[k]
		winner := lists.Either(f >= 0, own.Positive, own.Negative)
		table.Rows = append(table.Rows, []string{own.Negative + " or " + own.Positive, strconv.Itoa(own.TrainN), strconv.Itoa(own.SupportVectors), views.Short(*own.Margin), views.Short(math.Abs(f)), winner})
		if k <= e.Step {
			winners = append(winners, winner)
		}
	}
	_, margins := ml.Votes(len(classes), scores)
	most, leaders := 0, 0
	for c, name := range classes {
		won := lists.Count(winners, func(w string) bool { return w == name })
		switch {
		case won > most:
			most, leaders = won, 1
		case won == most:
			leaders++
		}
		e.Numbers = append(e.Numbers, lessons.Number{Label: name, Value: lessons.Count(won, "vote", "votes"), Help: lists.Either(over, "sum of its margins "+lessons.Short(margins[c]), "so far")})
	}
	answer := t.Model.LabelOf(scores...)
	switch {
	case !over:
		table.Marked = []int{e.Step}
		e.Notes = []string{fmt.Sprintf("Your point: %s wins. ~On to %s.~", winners[e.Step], lists.Either(e.Step+1 < len(scores), "the next duel", "the count"))}
	case leaders > 1:
		e.Notes = []string{fmt.Sprintf("The votes are tied, %d classes have %s each: every class beats another and loses to a third.", leaders, lessons.Count(most, "vote", "votes"))}
		e.After = []string{"By the sums of its margins the answer is " + answer + "."}
	}
	if over {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "answer", Value: answer, After: true})
	}
	e.Tables = []lessons.Table{table}
	return e
}

// spread returns the functions of a linear model for all classes.
func spread(m *ml.Model) func(x, y float64) []float64 {
	type linear struct {
		w []float64
		b float64
	}
	var all []linear
	for k := range m.Machines {
		w, b, _ := m.Alone(k).Linear()
		all = append(all, linear{w, b})
	}
	return func(x, y float64) []float64 {
		return lists.Map(all, func(l linear) float64 { return l.w[0]*x + l.w[1]*y + l.b })
	}
}

// areas draws where each of k classes has the largest of these functions.
func areas(k int, f func(x, y float64) []float64) (marks []figure.Mark) {
	for c := range k {
		marks = append(marks, figure.Region{Color: figure.ClassColor(c), F: func(x, y float64) float64 {
			v := f(x, y)
			own := v[c]
			v[c] = math.Inf(-1)
			return own - slices.Max(v)
		}})
	}
	return marks
}

// dots draws the points, with those selected by ring ringed.
func (t toy) dots(ring func(i int) bool) (marks []figure.Mark) {
	for i, p := range t.xy {
		marks = append(marks, figure.Dot{At: p, Class: strings.Index(classNames, t.labels[i:i+1]), Name: t.labels[i : i+1]})
	}
	for i, p := range t.xy {
		if ring != nil && ring(i) {
			marks = append(marks, figure.Dot{At: p, Class: strings.Index(classNames, t.labels[i:i+1]), Ring: true})
		}
	}
	return marks
}

func showSlack(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	way := joint.Of(in)
	t := fit(ctx, "three", "kernel", "linear", "C", price.Text(in), "multiclass", way)
	classes, f, p := t.Model.Classes, spread(t.Model), paying.Of(in)
	own := slices.Index(classes, class.Of(in))
	scores := f(p[0], p[1])
	each, sum, largest := theory.ClassSlacks(scores, own)
	paid := func(x, y float64) float64 {
		_, sum, largest := theory.ClassSlacks(f(x, y), own)
		return lists.Either(way == "ww", sum, largest)
	}
	table := lessons.Table{Caption: "Your point as one of class " + classes[own] + ". It is not trained on.", Head: []string{"class", "$f_c(\\mathbf x)$", "$f_y - f_c$", "slack"}}
	for c, name := range classes {
		row := []string{name, lessons.Short(scores[c]), "–", "–"}
		if c != own {
			row[2], row[3] = lessons.Short(scores[own]-scores[c]), lessons.Short(each[c])
		}
		table.Rows = append(table.Rows, row)
	}
	yours := figure.Dot{At: p, Class: own, Ring: true, Held: true, Label: "your point"}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("regions", `Each place gets the class with the largest $f_c$. ~Drag your point.~`, limits, 2, areas(len(classes), f), three.dots(nil), []figure.Mark{yours}),
			lessons.Plane("slack", "The slack that a point of class "+classes[own]+` would cost, by its place: 0 where $f_y$ leads by 1 or more.`, limits, 2,
				[]figure.Mark{figure.Region{Color: figure.ClassColor(own), Name: "no slack", F: func(x, y float64) float64 { return -paid(x, y) }}, figure.Contours{F: paid, Levels: []float64{0.5, 1, 2, 3, 4}, Name: "slack"}, yours}),
		},
		Handles: []lessons.Handle{paying.Handle("your point", in)},
		Numbers: []lessons.Number{
			{Label: "Weston and Watkins pay", Value: lessons.Short(sum), Help: `$\sum_{c\ne y}\xi_{ic}$` + lists.Either(way == "ww", ", this machine", "")},
			{Label: "Crammer and Singer pay", Value: lessons.Short(largest), Help: `$\max_{c\ne y}\xi_{ic}$` + lists.Either(way == "cs", ", this machine", "")},
			{Label: "slack of all 24 points", Value: views.Short(*t.Report.SlackSum), Help: "as this machine counts it"},
			{Label: "minimum", Value: views.Short(*t.Report.Objective), Help: `$\tfrac12\sum_c\lVert\mathbf w_c\rVert^2 + C$ times that slack`},
		},
		Tables: []lessons.Table{table},
		Lab:    t.open("kernel", "linear", "C", price.Text(in), "multiclass", way),
	}
}

// mostSteps is the maximal length of the replay.
const mostSteps = 200

// climbed runs the dual ascent of the Crammer-Singer machine.
func climbed(ctx context.Context, c float64) *trace.Replay[stepwise.CrammerSingerState] {
	d := three.load()
	return lessons.Must(stepwise.CrammerSinger(ctx, kernel.NewGram(kernel.Kernel{Name: "linear"}, d.X), d.Y, len(d.Classes), stepwise.CrammerSingerSettings{C: c, Tol: 1e-2, MaxSteps: mostSteps}))
}

func showClimb(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	r := climbed(ctx, price.Of(in))
	e := &lessons.Exhibit{Steps: r.Len(), Step: min(in.Step, r.Len()-1)}
	s, before := r.At(e.Step), r.At(e.Step-1)
	classes := strings.Split(classNames, "")
	f := func(x, y float64) []float64 { // the kernel is linear
		v := make([]float64, len(classes))
		for c, u := range s.U {
			for i, p := range three.xy {
				v[c] += u[i] * (p[0]*x + p[1]*y)
			}
		}
		return v
	}
	marks := three.dots(func(i int) bool { return slices.Max(s.Points[i].Alpha) > 0 })
	vectors := lists.Count(s.Points, func(p stepwise.ClassPoint) bool { return slices.Max(p.Alpha) > 0 })
	caption := "At the start all functions are 0: no class has a region yet, and every point violates its conditions by 1."
	if s.Looked >= 0 {
		at := three.xy[s.Looked]
		marks = append(areas(len(classes), f), marks...)
		marks = append(marks, figure.Dot{At: at, Class: s.Points[s.Looked].Class, Ring: true, Label: "solved for"})
		caption = "The regions after this step. Ringed: the support vectors."
		q, old := s.Points[s.Looked], before.Points[s.Looked]
		table := lessons.Table{Caption: fmt.Sprintf("The point that was solved for, of class %s, before and after. Its violation was %s.", classes[q.Class], views.Short(old.Violation)), Head: []string{"class", "$f_c$ before", "after", `$\alpha_c$ before`, "after"}}
		for c, name := range classes {
			row := []string{name, lessons.Short(old.F[c]), lessons.Short(q.F[c]), "–", "–"}
			if c != q.Class {
				row[3], row[4] = lessons.Short(old.Alpha[c]), lessons.Short(q.Alpha[c])
			}
			table.Rows = append(table.Rows, row)
		}
		e.Tables = []lessons.Table{table}
	}
	e.Figures = []lessons.Figure{
		lessons.Plane("regions", caption, limits, 2, marks),
		lessons.StepChart("objectives", "The dual climbs with every step; the primal, computed from the same functions, comes down with jumps. The minimum lies between them.", e.Step, figure.Chart{
			Y:      figure.Axis{Name: "objective"},
			Curves: []figure.Curve{lessons.StepCurve("primal", r, func(s stepwise.CrammerSingerState) float64 { return s.Primal }), lessons.StepCurve("dual", r, func(s stepwise.CrammerSingerState) float64 { return s.Dual })},
		}),
	}
	e.Numbers = []lessons.Number{
		{Label: "dual", Value: views.Short(s.Dual), Help: "no more than the minimum"},
		{Label: "primal", Value: views.Short(s.Primal), Help: "no less than the minimum"},
		{Label: "largest violation", Value: views.Short(s.Violation), Help: "the next step goes to the point that has it"},
		{Label: "support vectors", Value: fmt.Sprintf("%d of %d", vectors, len(s.Points))},
	}
	if e.Step == e.Steps-1 {
		e.Notes = []string{lists.Either(r.Status() == trace.Converged, "No point violates its conditions by more than 0.01: the functions will not change much any more.", fmt.Sprintf("%d steps are shown, and the climb is not at its end: a large $C$ makes the way long. The lab's solver takes steps in many directions at once.", mostSteps))}
	}
	return e
}

// oneAtATime checks that steps on single points reach the Crammer-Singer optimum.
func oneAtATime(ctx context.Context) float64 {
	if climbed(ctx, 1).Status() != trace.Converged {
		panic(lessons.Failf("lessons: steps of single points do not reach the optimum"))
	}
	return 0
}

// fourWays trains the four rules on a set.
func fourWays(ctx context.Context, set string, pairs ...string) []*machines {
	return lists.Map(ml.Multiclass, func(way ml.MulticlassEntry) *machines {
		return fit(ctx, set, append([]string{"multiclass", way.Name}, pairs...)...)
	})
}

func showFour(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	pairs := []string{"kernel", with.Of(in), "gamma", width.Text(in), "C", price.Text(in)}
	all := fourWays(ctx, set.Of(in), pairs...)
	first := all[0]
	var names []string
	var models []*ml.Model
	table := lessons.Table{After: true, Caption: "How many points are right, in all and of each class", Head: []string{"rule", "$f$", "SVs", "right"}}
	for _, c := range first.Report.Confusion {
		table.Head = append(table.Head, fmt.Sprintf("%s (%d)", lessons.Literal(c.Class), c.N))
	}
	e := &lessons.Exhibit{Lab: first.open(append(pairs, "multiclass", "ovo")...)}
	for i, t := range all {
		way := ml.Multiclass[i]
		names, models = append(names, way.Label), append(models, t.Model)
		row := []string{way.Label, strconv.Itoa(len(t.Model.Machines)), strconv.Itoa(t.Report.SupportVectors), lessons.Percent(*t.Report.TrainAccuracy)}
		right := lists.Make(len(t.Report.Confusion), func(k int) string { return strconv.Itoa(t.Report.Confusion[k].Predicted[k]) })
		table.Rows = append(table.Rows, append(row, right...))
	}
	e.Tables = []lessons.Table{table}
	bare := figure.Plane{X: first.data.Features[0], Y: first.data.Features[1]}
	for i, c := range first.data.Y {
		bare.Marks = append(bare.Marks, figure.Dot{At: [2]float64(first.data.X.RawRowView(i)), Class: c, Name: first.data.Classes[c]})
	}
	whole := first.overlay("overlay", "The boundaries of all four. Grey and hatched: they do not give one answer.", names, models...)
	e.Figures = []lessons.Figure{whole.Instead(lessons.Figure{Draw: lessons.Draws(3, bare)}, "The points. Where do the boundaries of the four rules run?")}
	for i, t := range all {
		e.Figures = append(e.Figures, lessons.Figure{Name: ml.Multiclass[i].Name, After: true, Caption: strings.ToUpper(names[i][:1]) + names[i][1:] + ".", Draw: func(l lessons.Look) (*figure.Picture, error) {
			return figure.Boundary(l.Context(), t.scene(t.Model, l))
		}})
	}
	return e
}

// claimedByMiddle counts the points of the middle cloud claimed by its one-vs-rest machine.
func claimedByMiddle(ctx context.Context) float64 {
	t := fit(ctx, "cross", "kernel", "linear", "multiclass", "ovr")
	points := t.Points()
	claimed := lists.Where(len(points), func(i int) bool { return t.data.Y[i] == 0 && points[i].Scores[0] >= 0 })
	return float64(len(claimed))
}

// middleWithoutBias counts the points of the middle cloud classified correctly by the machine
// without biases.
func middleWithoutBias(ctx context.Context) float64 {
	return float64(fit(ctx, "cross", "kernel", "linear", "multiclass", "cs").Report.Confusion[0].Predicted[0])
}

func showCost(_ context.Context, in lessons.Input) *lessons.Exhibit {
	k, n := number.Of(in), points.Of(in)
	rest, pairs, joint := theory.MulticlassWork(n, k)
	table := lessons.Table{After: true, Caption: fmt.Sprintf("%d points of %d classes of equal size.", n, k), Head: []string{"rule", "problems", "variables in all", "of the largest", "work"}}
	for _, r := range []struct {
		name string
		work theory.ClassWork
	}{{"one-vs-rest", rest}, {"one-vs-one", pairs}, {"all at once", joint}} {
		table.Rows = append(table.Rows, []string{r.name, strconv.Itoa(r.work.Problems), views.Short(r.work.Variables), views.Short(r.work.Largest), "$" + lessons.TeX(r.work.Products) + "\\,n^2$"})
	}
	curves := lessons.CurvesOf(lessons.Linspace(2, 20, 19), func(c float64) []float64 {
		rest, pairs, joint := theory.MulticlassWork(n, int(c))
		return []float64{rest.Products, pairs.Products, joint.Largest / float64(n)}
	}, "one-vs-rest: work / n²", "one-vs-one: work / n²", "all at once: variables / n")
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "work", Asks: "Here come the work of the binary machines and the variables of the joint problem, against the number of classes. Which curve is the highest?", Caption: `Work of the binary machines in kernel values, in units of $n^2$, and the variables of the joint problem, in units of $n$.`, Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: "classes", Min: 2, Max: 20}, Y: figure.Axis{Min: 0, Max: 20}, Curves: curves, Hidden: 3, Here: new(min(float64(k), 20)),
		})}},
		Numbers: []lessons.Number{
			{Label: "machines, one-vs-one", Value: strconv.Itoa(pairs.Problems), Help: `$\tfrac12 k(k-1)$`},
			{Label: "points for each", Value: views.Short(pairs.Largest), Help: `$2n/k$`},
			{Label: "work against that of the rest", Value: views.Short(pairs.Products / rest.Products), Help: `$2(k-1)/k^2$`, After: true},
		},
		Tables: []lessons.Table{table},
	}
}

// prices lists the values of C tried in cross-validation.
var prices = []float64{0.01, 0.1, 1, 10, 100}

// judged cross-validates the rules on a set, all on the same folds.
func judged(ctx context.Context, set, kern string) (results []*eval.Result) {
	b := load(set)
	for _, way := range ml.Multiclass {
		spec := lessons.NewSpec("kernel", kern, "gamma", "0.5", "multiclass", way.Name)
		r := lessons.Must(eval.CrossValidate(ctx, b.data, spec, eval.Grid{"C": eval.Numbers(prices...)}, eval.Scheme{Folds: 5, Seed: 1}, nil))
		results = append(results, r)
	}
	return results
}

// behind returns the rule with the lowest accuracy over all sets, each at its best C.
func behind(ctx context.Context) float64 {
	last := -1
	for _, o := range asked.Options {
		results := judged(ctx, o.Name, "linear")
		worst := 0
		for i, r := range results {
			if r.Settings[r.Best].Accuracy < results[worst].Settings[results[worst].Best].Accuracy {
				worst = i
			}
		}
		if last >= 0 && last != worst {
			panic(lessons.Failf("lessons: no rule is behind on all sets"))
		}
		last = worst
	}
	return float64(last)
}

func showBetter(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	results := judged(ctx, asked.Of(in), with.Of(in))
	e := &lessons.Exhibit{Lab: load(asked.Of(in)).open("kernel", with.Of(in), "gamma", "0.5", "multiclass", "ovo")}
	table := lessons.Table{After: true, Caption: "The best C of each rule, by the mean of five held-out folds.", Head: []string{"rule", "best C", "held out", "worst fold", "best fold"}}
	var curves []figure.Curve
	for i, r := range results {
		curve := figure.Curve{Name: ml.Multiclass[i].Label, X: prices, Marks: true}
		curve.Y = lists.Map(r.Settings, func(s eval.Setting) float64 { return s.Accuracy })
		curves = append(curves, curve)
		best := r.Settings[r.Best]
		low, high := 1.0, 0.0
		for _, f := range best.Folds {
			low, high = min(low, f.Accuracy), max(high, f.Accuracy)
		}
		table.Rows = append(table.Rows, []string{curve.Name, views.Short(prices[r.Best]), lessons.Percent(best.Accuracy), lessons.Percent(low), lessons.Percent(high)})
	}
	e.Figures = []lessons.Figure{{Name: "accuracy", Asks: "Here come the right answers on held-out points against $C$, a curve for each of the four rules.", Caption: `Right answers on held-out points against $C$, the same five folds for all four.`, Draw: lessons.Draws(2, figure.Chart{
		X: figure.Axis{Name: "C", Log: true, Min: prices[0], Max: prices[len(prices)-1]}, Y: figure.Axis{Name: "share of right answers", Min: 0, Max: 1}, Curves: curves, Hidden: len(curves),
	})}}
	e.Tables = []lessons.Table{table}
	e.After = []string{"Compare the differences between the rules with those between the best and the worst fold of one rule."}
	return e
}
