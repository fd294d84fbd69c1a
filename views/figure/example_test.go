package figure_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/views/figure"
)

var update = flag.Bool("update", false, "write the golden pictures")

func ExampleBoundary() {
	s := scene()
	s.Slack = true
	fmt.Println(golden("boundary", must(figure.Boundary(context.Background(), s))))
	// Output: as testdata/boundary.svg
}

func ExampleComponentMap() {
	s := scene()
	c := &ml.Compared{Of: len(s.Points)}
	for i := 0; i < c.Of; i += 2 - i/45 { // every other of the first
		c.Rows = append(c.Rows, i)
	}
	c.Values = mat.NewDense(len(c.Rows), len(c.Rows), nil)
	c.Values.Apply(func(a, b int, _ float64) float64 {
		return s.Model.Kernel.Eval(s.Points[c.Rows[a]].X, s.Points[c.Rows[b]].X)
	}, c.Values)
	show("components", must(figure.ComponentMap(context.Background(), c, s)))
	// Output: as testdata/components.svg
	// The objects in the plane of the two largest principal components in the kernel's feature space, which hold 26 % and 23 % of the variance of those trained on. 67 points: 45 of class 0, 22 of class 1. 11 support vectors: 1 on the margin, 4 inside it, 6 misclassified. 6 of 57 training points on the wrong side, 0 of 10 held-out points. 67 of 90 objects.
}

func ExampleConformal() {
	s := scene()
	s.Model.Machines[0].Map = &conformal.Map{Gamma: 2, Alpha0: 0.2, Alpha: []float64{1, 0.8, 0.6}, Cores: [][]float64{{-0.6, 0.4}, {0.6, 0.4}, {1.2, -0.3}}}
	fmt.Println(golden("conformal", must(figure.Conformal(context.Background(), s))))
	// Output: as testdata/conformal.svg
}

func ExampleDecisions() {
	s := scene()
	show("decisions", must(figure.Decisions(figure.DecisionScene(s.Model, s.Points, []string{"0", "1"}))))
	// Output: as testdata/decisions.svg
	// Decision values f(x), class by class, between 1 and 0, RBF (Gaussian) kernel. 90 points: 45 of class 0, 45 of class 1. 16 support vectors: 2 on the margin, 7 inside it, 7 misclassified. 7 of 77 training points on the wrong side, 0 of 13 held-out points.
}

func ExampleOverlay() {
	bent, straight := scene(), scene()
	straight.Model = &ml.Model{
		Features: straight.Model.Features, Classes: []string{"0", "1"}, Kernel: kernel.Kernel{Name: "linear"},
		Supports: ml.Supports{Rows: []int{0}, Vectors: [][]float64{{0.5, -1}}}, Machines: []ml.Machine{{Coef: []float64{1}}}, Rule: ml.Sign,
	}
	for _, s := range []figure.Scene{bent, straight} {
		for i := range s.Points {
			s.Points[i].HeldOut = i%2 == 0
			s.Points[i].Predicted = s.Model.LabelOf(s.Model.Decision(s.Points[i].X))
		}
	}
	p := must(figure.Overlay(context.Background(), []figure.Layer{{Name: "RBF", Scene: bent}, {Name: "linear", Scene: straight}}))
	fmt.Println(golden("overlay", p))
	fmt.Printf("they disagree on %.0f %% of the area\n", 100*p.Disagree)
	fmt.Println(p.Caption)
	// Output: as testdata/overlay.svg
	// they disagree on 10 % of the area
	// Boundaries of RBF, linear over x1 and x2. They predict different classes on 9.6 % of the area shown, which is hatched. Of 45 points that all held out, they predict different classes for 3.
}

func ExampleRun_Draw() {
	show("path", must(moonsRun("learner", "ridge").Draw(context.Background(), "path")))
	// Output: as testdata/path.svg
	// Mean squared error against λ, in training and with each point left out; f = 0 has 1. At λ = 1: 0.111 in training, 0.126 left out, 11.9 degrees of freedom. Left out, it is least at λ = 3.98·10⁻⁵: 0.0594.
}

func ExampleRun_Draw_roc() {
	run := moonsRun("kernel", "linear", "test_fraction", "0.5")
	for _, name := range []string{"roc", "precision"} {
		show(name, must(run.Draw(context.Background(), name)))
	}
	// Output: as testdata/roc.svg
	// Receiver operating characteristic on 100 held-out points, as the threshold of f falls: the area below is 0.954, the probability that f is larger at a point of 1 than at one of −1. At f = 0, 0.82 of 1 and 0.14 of −1 are predicted as 1.
	// as testdata/precision.svg
	// Precision over recall of 1 on 100 held-out points, as the threshold of f falls: on average over the points of the class the precision is 0.958, by guessing 0.500. At f = 0 it is 0.854 with recall 0.82.
}

func ExampleRun_Draw_calibration() {
	run := moonsRun("kernel", "linear", "test_fraction", "0.5", "calibration", "platt")
	show("calibration", must(run.Draw(context.Background(), "calibration")))
	// Output: as testdata/calibration.svg
	// Calibration on 100 held-out points in 10 groups, by the predicted probability of 1. On the diagonal, predictions match observed frequencies. All intervals reach it.
}

func ExampleValidation() {
	best := 1.0
	fmt.Println(golden("validation", must(figure.Validation{
		X: "C", Log: true, Score: "accuracy", Places: []float64{0.1, 1, 10}, Here: &best,
		HeldOut: [][]float64{{0.7, 0.8}, {0.9, 0.94}, {0.85, 0.9}}, Training: [][]float64{{0.75, 0.8}, {0.95, 0.96}, {1, 1}},
	}.Picture())))
	// Output: as testdata/validation.svg
}

func ExampleAlphas() {
	c := []float64{0.1, 0.3, 1, 1.9, 2.1, 3, 10, 30, 100}
	r := &ml.Regularisation{C: 10, Side: []int{0, 1, 0, 1, 0, 1}, Classes: [2]string{"no", "yes"}}
	for _, v := range c {
		alpha := lists.Make(len(r.Side), func(i int) float64 { return max(0, min(v, 2*float64(i/2)-v/9*float64(i))) })
		r.Steps = append(r.Steps, ml.RegularisationStep{C: v, Alpha: alpha})
	}
	fmt.Println(golden("regularisation", must(figure.Alphas(r, figure.Format{}))))
	// Output: as testdata/regularisation.svg
}

func ExampleBand() {
	b := figure.Band{Scene: scene(), Ring: 8}
	for k := range 30 { // each with another bias
		m := *b.Model
		m.Machines = []ml.Machine{m.Machines[0]}
		m.Machines[0].B += 0.02 * float64(k-15)
		b.Sampled = append(b.Sampled, &m)
	}
	show("band", must(b.Picture(context.Background())))
	// Output: as testdata/band.svg
	// The boundary over x1 and x2 with the boundaries of 30 bootstrap samples. Hatched: between 5 % and 95 % of these predict 1 (8.5 % of the area). Row 8 is ringed: without it the boundary moves most.
}

func ExampleRegularised() {
	fmt.Println(golden("regularised", must(figure.Regularised(&ml.Regularisation{C: 1, Rows: make([]int, 10), Steps: []ml.RegularisationStep{
		{C: 0.1, TrainAccuracy: 0.6, SupportVectors: 10, Bounded: 10, Accuracy: new(0.6), Deviation: new(0.1)},
		{C: 1, TrainAccuracy: 0.9, SupportVectors: 6, Bounded: 5, Accuracy: new(0.9), Deviation: new(0.05)},
		{C: 3, TrainAccuracy: 0.95, SupportVectors: 5, Bounded: 2},
		{C: 10, TrainAccuracy: 1, SupportVectors: 3, Accuracy: new(0.85), Deviation: new(0.2)},
	}}, figure.Format{}))))
	// Output: as testdata/regularised.svg
}

func ExampleSparseness() {
	fmt.Println(golden("sparseness", must(figure.Sparseness{
		Score: "accuracy", Vectors: []float64{40, 12, 25, 60}, Scores: []float64{0.9, 0.89, 0.91, math.NaN()}, Best: 2, Simplest: 1,
	}.Picture())))
	// Output: as testdata/sparseness.svg
}

func ExampleScatter() {
	d := &dataset.Data{Features: []string{"length", "width"}, Label: "kind", Classes: []string{"ash", "beech", "elm"}, X: mat.NewDense(60, 2, nil), Y: make([]int, 60)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range d.Y {
		d.Y[i] = i % 3
		d.X.SetRow(i, []float64{float64(i%3) + 0.4*r.NormFloat64(), 10 * (float64(i%2) + 0.3*r.NormFloat64())})
	}
	fmt.Println(golden("scatter", must(figure.Scatter(context.Background(), figure.DataScene(d, plane(d.Features))))))
	// Output: as testdata/scatter.svg
}

func ExampleSpeaking() {
	acid := dataset.Graph{N: 5, Edges: [][2]int{{0, 1}, {1, 2}, {1, 3}, {3, 4}}, Labels: []string{"C", "C", "O", "O", "H"}}
	sides := figure.Sides{Names: [2]string{"sour", "sweet"}, Colors: [2]figure.Color{figure.Orange, figure.Blue}}
	show("speaking", must(figure.Networks{
		Format: figure.Format{Width: 300, Height: 240}, Sides: sides,
		Networks: []figure.Network{{Name: "row 1 · sour", Graph: acid, Nodes: figure.Speaking(acid, []float64{-0.4, 0.02, 0.3, 1, 0}, 1, sides)}},
	}.Picture()))
	// Output: as testdata/speaking.svg
	// Graphs. row 1 · sour: 5 nodes, 4 edges: 0 C−, 1 C, 2 O+, 3 O+, 4 H, 0–1 1–2 1–3 3–4.
}

func ExampleStrings() {
	show("strings", must(figure.Strings{
		Format: figure.Format{Width: 400, Height: 200},
		Texts: []figure.Spelt{
			{Head: "row 1 · planted · f = 1.2", Text: "GATATAATC", Parts: []float64{0, 0.1, 0.3, 0.4, 0.5, 0.4, 0.3, 0.05, -0.1}},
			{Head: "row 2 · random · f = -0.8", Text: "a b " + strings.Repeat("cd", 60), Parts: append([]float64{0, 0, 0.1, -0.1}, make([]float64, 120)...)},
		},
		Sides: figure.Sides{Names: [2]string{"planted", "random"}, Colors: [2]figure.Color{figure.Orange, figure.Blue}},
	}.Picture()))
	// Output: as testdata/strings.svg
	// What each symbol adds to the score f(x). row 1 · planted · f = 1.2: most in a row add GATATAAT, symbols 1 to 8, for planted. row 2 · random · f = -0.8: most in a row add a b, symbols 1 to 3, for planted.
}

func ExampleWeights() {
	show("weights", must(figure.Weights{
		Features: []kernel.Feature{{Name: "TAT", Weight: 1.4}, {Name: "ATA", Weight: 1.1}, {Name: "AAT", Weight: 0.3}, {Name: "GCG", Weight: -0.2}, {Name: "CCC", Weight: -0.9}},
		Sides:    figure.Sides{Names: [2]string{"planted", "random"}, Colors: [2]figure.Color{figure.Orange, figure.Blue}},
	}.Picture()))
	// Output: as testdata/weights.svg
	// Largest feature weights. For planted: TAT 1.4, ATA 1.1, AAT 0.3. For random: CCC 0.9, GCG 0.2.
}

// must returns the first result of a call that has to succeed.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// moonsRun trains on the moons with some parameters set: "kernel", "linear", ...
func moonsRun(set ...string) figure.Run {
	moons, _ := dataset.FindBuiltin("moons")
	r := figure.Run{Data: must(moons.Load()), Spec: ml.DefaultSpec()}
	for i := 0; i < len(set); i += 2 {
		must(0, r.Spec.Set(set[i], set[i+1]))
	}
	r.Result = must(ml.Train(context.Background(), r.Data, r.Spec, nil))
	return r
}

// show prints whether a picture is the one in testdata, and its caption.
func show(name string, p *figure.Picture) {
	fmt.Println(golden(name, p))
	fmt.Println(p.Caption)
}

// golden compares a picture with the one in testdata, byte for byte.
func golden(name string, p *figure.Picture) string {
	var b bytes.Buffer
	if err := p.SVG(context.Background(), &b); err != nil {
		return err.Error()
	}
	path := filepath.Join("testdata", name+".svg")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return err.Error()
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(b.Bytes(), want) {
		return "differs from " + path + "; look at it, and write it anew with go test -update"
	}
	return "as " + path
}

func plane(names []string) dataset.View {
	axes := [2][]float64{{1, 0}, {0, 1}}
	return dataset.View{Labels: [2]string{names[0], names[1]}, Center: []float64{0, 0}, To: axes, Axes: axes, Exact: true}
}

// scene is two moons with a model made by hand, so that pictures do not change with the solvers:
// every training point pulls with the same weight, and what part a point plays is read off f.
func scene() figure.Scene {
	const n = 90
	r := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(n, 2, nil)
	m := &ml.Model{
		Features: []string{"x1", "x2"}, Label: "class", Classes: []string{"0", "1"},
		Kernel: kernel.RBF(1.5), Machines: []ml.Machine{{B: 0.1}}, Rule: ml.Sign,
	}
	machine := &m.Machines[0]
	ps := make([]ml.Point, n)
	for i := range ps {
		a, y := math.Pi*r.Float64(), float64(2*(i%2)-1)
		row := x.RawRowView(i)
		row[0] = -y*math.Cos(a) + (1+y)/2 + 0.22*r.NormFloat64()
		row[1] = -y*math.Sin(a) + (1+y)/4 + 0.22*r.NormFloat64()
		ps[i] = ml.Point{Row: i, X: row, Y: y, Label: fmt.Sprint(i % 2), HeldOut: i%7 == 5}
		if !ps[i].HeldOut {
			m.Supports.Rows = append(m.Supports.Rows, i)
			m.Supports.Vectors = append(m.Supports.Vectors, row)
			machine.Coef = append(machine.Coef, 0.2*y)
		}
	}
	for i, f := range m.Decisions(x) {
		p := &ps[i]
		p.F, p.Margin = f, p.Y*f
		p.Slack, p.Wrong = math.Max(0, 1-p.Margin), p.Margin < 0
		if p.HeldOut || p.Margin > 1.1 {
			continue
		}
		p.Weight = p.Y * math.Min(1, 1.2-p.Margin)
		switch {
		case p.Slack > 1:
			p.Role = ml.Misclassified
		case p.Slack > 0.1:
			p.Role = ml.Inside
		default:
			p.Role = ml.Free
		}
		p.Core = i%5 == 0
	}
	return figure.Scene{Model: m, Points: ps, View: plane(m.Features)}
}
