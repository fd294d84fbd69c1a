package export

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// The operator versions, of 2021.
const (
	onnxIR       = 7
	onnxOperator = 13
	onnxML       = 2
	mlDomain     = "ai.onnx.ml"
)

// Tensor types, by their ONNX numbers.
const (
	isFloat  = 1
	isInt64  = 7
	isString = 8
)

// writeONNX writes a graph with the input X, rows of the model's features in original units, and
// the outputs label, unless the model predicts numbers, and f, a column per machine; for a
// calibrated model also probability, of the positive class.
//
// The graph uses one SVMClassifier or SVMRegressor if that is equivalent. Other kernels, conformal
// maps and other rules are built from basic operators. Unlike in LIBSVM, rho is added to f.
func writeONNX(w io.Writer, m *ml.Model) error {
	g := &graph{m: m}
	x := g.inputs()
	f, err := g.decision(x)
	if err != nil {
		return err
	}
	g.node("", "Identity", []string{f}, []string{"f"})
	outputs := [][]byte{value("f", isFloat, -1, int64(len(m.Machines)))}
	if m.Rule != ml.Value {
		kind := isString
		if integers(m.Classes) != nil {
			kind = isInt64
		}
		g.node("", "Gather", []string{g.classes(), g.class(f)}, []string{"label"}, attributeInt("axis", 0))
		outputs = slices.Insert(outputs, 0, value("label", kind, -1))
	}
	if p := m.Platt; p != nil {
		z := g.op("Add", g.op("Mul", f, g.floats([]float64{-p.A})), g.floats([]float64{-p.B}))
		g.node("", "Sigmoid", []string{z}, []string{"probability"})
		outputs = append(outputs, value("probability", isFloat, -1, 1))
	}
	var body message
	for _, n := range g.nodes {
		body.text(1, n)
	}
	body.text(2, []byte("marginlab"))
	for _, t := range g.tensors {
		body.text(5, t)
	}
	body.text(11, value("X", isFloat, -1, int64(len(m.Features))))
	for _, o := range outputs {
		body.text(12, o)
	}
	var model message
	model.number(1, onnxIR)
	model.text(2, []byte("Margin Lab"))
	model.text(7, body)
	model.text(8, opset("", onnxOperator))
	model.text(8, opset(mlDomain, onnxML))
	for j, name := range m.Features {
		model.text(14, property(fmt.Sprintf("feature %d", j+1), name))
	}
	model.text(14, property("label", m.Label))
	for k, name := range m.ScoreNames() {
		model.text(14, property(fmt.Sprintf("f %d", k+1), name))
	}
	_, err = w.Write(model)
	return err
}

// graph is an ONNX graph under construction.
type graph struct {
	m       *ml.Model
	nodes   [][]byte
	tensors [][]byte
	names   int
}

// singlePrecision returns an error if a number of m overflows single precision.
func singlePrecision(m *ml.Model) error {
	if v := largest(m); v > math.MaxFloat32 {
		return param.Refuse("standardise the features, or use Python", "the model contains %g, which is beyond the single-precision range of ONNX", v)
	}
	return nil
}

// largest returns the largest absolute value among the numbers of m.
func largest(m *ml.Model) (most float64) {
	look := func(vs ...[]float64) {
		for _, v := range vs {
			for _, x := range v {
				most = max(most, math.Abs(x))
			}
		}
	}
	look(m.Supports.Vectors...)
	look(m.Fill, biases(m))
	if s := m.Scaler; s != nil {
		look(s.Mean, s.Scale)
		for _, v := range s.Scale {
			look([]float64{1 / v})
		}
	}
	for _, machine := range m.Machines {
		look(machine.Coef)
		if machine.Map != nil {
			look(machine.Map.Alpha)
		}
	}
	return most
}

// inputs adds the preprocessing, and returns the name of its result.
func (g *graph) inputs() string {
	x := "X"
	if g.m.Fill != nil {
		nan := g.op("IsNaN", x)
		x = g.op("Where", nan, g.matrix([][]float64{g.m.Fill}), x)
	}
	if s := g.m.Scaler; s != nil {
		over := lists.Map(s.Scale, func(v float64) float64 { return 1 / v })
		x = g.in(mlDomain, "Scaler", []string{x}, attributeFloats("offset", s.Mean), attributeFloats("scale", over))
	}
	if p := g.m.Projection; p != nil {
		components := mat.NewDense(len(p.Components[0]), len(p.Components), nil)
		for k, c := range p.Components {
			components.SetCol(k, c)
		}
		x = g.op("MatMul", g.op("Sub", x, g.matrix([][]float64{p.Mean})), g.dense(components))
	}
	return x
}

// svmKernels maps kernels to those of SVMClassifier and SVMRegressor.
var svmKernels = map[string]string{"linear": "LINEAR", "poly": "POLY", "rbf": "RBF", "sigmoid": "SIGMOID"}

// decision adds f of every machine.
func (g *graph) decision(x string) (string, error) {
	m := g.m
	name, ok := svmKernels[m.Kernel.Name]
	if ok && !mapped(m) && (m.Rule == ml.Value || m.Rule == ml.Sign || m.Rule == ml.OneVsOne) {
		v := m.Kernel.Values
		common := [][]byte{
			attributeText("kernel_type", name),
			attributeFloats("kernel_params", []float64{v.Number("gamma"), v.Number("coef0"), v.Number("degree")}),
		}
		if m.Rule == ml.Value {
			return g.regressor(x, common), nil
		}
		return g.classifier(x, common), nil
	}
	k, err := g.kernel(x)
	if err != nil {
		return "", err
	}
	coef := mat.NewDense(len(m.Supports.Vectors), len(m.Machines), nil)
	for c, machine := range m.Machines {
		u := slices.Clone(machine.Coef)
		if machine.Map != nil {
			for j, c := range machine.Map.Factors(rows(m.Supports.Vectors)) {
				u[j] *= c
			}
		}
		coef.SetCol(c, u)
	}
	f := g.op("MatMul", k, g.dense(coef))
	if mapped(m) {
		factors := make([]string, len(m.Machines))
		for i, machine := range m.Machines {
			c := machine.Map
			near := g.op("Exp", g.op("Mul", g.squares(x, c.Cores), g.floats([]float64{-c.Gamma})))
			alpha := mat.NewDense(len(c.Alpha), 1, slices.Clone(c.Alpha))
			factors[i] = g.op("Add", g.op("MatMul", near, g.dense(alpha)), g.floats([]float64{c.Alpha0}))
		}
		f = g.op("Mul", f, g.in("", "Concat", factors, attributeInt("axis", 1)))
	}
	return g.op("Add", f, g.matrix([][]float64{biases(m)})), nil
}

func (g *graph) regressor(x string, common [][]byte) string {
	m := g.m
	return g.in(mlDomain, "SVMRegressor", []string{x}, append(common,
		attributeInt("n_supports", int64(len(m.Supports.Vectors))),
		attributeFloats("support_vectors", slices.Concat(m.Supports.Vectors...)),
		attributeFloats("coefficients", m.Machines[0].Coef),
		attributeFloats("rho", []float64{m.Machines[0].B}))...)
}

// classifier adds f of the pairwise machines. The node lists the classes in reverse order, as for
// LIBSVM, so that its scores are f.
func (g *graph) classifier(x string, common [][]byte) string {
	arranged := group(g.m)
	vectors := slices.Concat(lists.At(g.m.Supports.Vectors, arranged.at)...)
	rho := lists.Map(arranged.machines, func(machine int) float64 { return g.m.Machines[machine].B })
	k := len(arranged.sizes)
	sizes, labels := make([]int64, k), make([]int64, k)
	for c, n := range arranged.sizes {
		sizes[c], labels[c] = int64(n), int64(k-1-c)
	}
	g.names++
	class, scores := fmt.Sprintf("class_%d", g.names), fmt.Sprintf("scores_%d", g.names)
	g.node(mlDomain, "SVMClassifier", []string{x}, []string{class, scores}, append(common,
		attributeInts("classlabels_ints", labels),
		attributeInts("vectors_per_class", sizes),
		attributeFloats("support_vectors", vectors),
		attributeFloats("coefficients", slices.Concat(arranged.coef...)),
		attributeFloats("rho", rho),
		attributeText("post_transform", "NONE"))...)
	order := make([]int64, len(arranged.machines)) // position of the score of each machine
	for place, machine := range arranged.machines {
		order[machine] = int64(place)
	}
	if k == 2 {
		order[0] = 1 // after -f
	}
	return g.in("", "Gather", []string{scores, g.ints(order)}, attributeInt("axis", 1))
}

// kernel adds k(x, x_j) for all support vectors x_j: a row for each x.
func (g *graph) kernel(x string) (string, error) {
	m := g.m
	product := func() string {
		z := mat.DenseCopyOf(rows(m.Supports.Vectors).T())
		return g.op("MatMul", x, g.dense(z))
	}
	return kernel.Reduce(m.Kernel,
		func(k kernel.Kernel) string {
			number := func(name string) string { return g.floats([]float64{k.Values.Number(name)}) }
			scaled := func(v string, by float64) string { return g.op("Mul", v, g.floats([]float64{by})) }
			gamma := k.Values.Number("gamma")
			switch k.Name {
			case "linear":
				return product()
			case "poly":
				return g.op("Pow", g.op("Add", scaled(product(), gamma), number("coef0")), number("degree"))
			case "rbf":
				return g.op("Exp", scaled(g.squares(x, m.Supports.Vectors), -gamma))
			case "sigmoid":
				return g.op("Tanh", g.op("Add", scaled(product(), gamma), number("coef0")))
			case "laplacian":
				return g.op("Exp", scaled(g.in("", "ReduceL1", []string{g.differences(x, m.Supports.Vectors)}, attributeInts("axes", []int64{2}), attributeInt("keepdims", 0)), -gamma))
			case "rational_quadratic":
				shape := k.Values.Number("shape")
				base := g.op("Add", scaled(g.squares(x, m.Supports.Vectors), gamma/shape), g.floats([]float64{1}))
				return g.op("Pow", base, g.floats([]float64{-shape}))
			case "fisher":
				return g.fisher(x, &k.Fitted[0])
			}
			panic("export: no ONNX for the kernel " + k.Name) // a test covers the table
		},
		func(v float64) string { return g.floats([]float64{v}) },
		func(a, b string) string { return g.op("Add", a, b) },
		func(a, b string) string { return g.op("Mul", a, b) },
	)
}

// differences adds x - z_j for all z_j, a matrix for each x.
func (g *graph) differences(x string, z [][]float64) string {
	return g.op("Sub", g.op("Unsqueeze", x, g.ints([]int64{1})), g.matrix(z))
}

// squares adds |x - z_j|² for all z_j, a row for each x. It is a sum of squares, as
// |x|² - 2x·z + |z|² would lose most digits in single precision.
func (g *graph) squares(x string, z [][]float64) string {
	return g.in("", "ReduceSumSquare", []string{g.differences(x, z)}, attributeInts("axes", []int64{2}), attributeInt("keepdims", 0))
}

// fisher adds the inner products of the scaled scores of x and of the support vectors.
func (g *graph) fisher(x string, f *kernel.Fitted) string {
	k, d := f.Len(), len(f.Means[0])
	front, shares, over, half := make([]float64, k), make([]float64, k), make([][]float64, k), make([][]float64, k)
	for c, w := range f.Weights {
		front[c], shares[c] = math.Log(w), 1/w
		for _, v := range f.Variances[c] {
			front[c] -= math.Log(2*math.Pi*v) / 2
			over[c], half[c] = append(over[c], 1/v), append(half[c], 0.5/v)
		}
	}
	away := g.differences(x, f.Means)
	byMean := g.op("Mul", away, g.matrix(over))
	squares := g.op("Mul", away, byMean)
	distance := g.op("ReduceSum", squares, g.ints([]int64{2}))
	distance = g.op("Squeeze", distance, g.ints([]int64{2}))
	logs := g.op("Add", g.op("Mul", distance, g.floats([]float64{-0.5})), g.matrix([][]float64{front}))
	p := g.in("", "Softmax", []string{logs}, attributeInt("axis", 1))
	each := g.op("Unsqueeze", p, g.ints([]int64{2}))
	flat := g.ints([]int64{-1, int64(k * d)})
	byMean = g.op("Reshape", g.op("Mul", each, byMean), flat)
	byVariance := g.op("Mul", g.op("Sub", squares, g.floats([]float64{1})), g.matrix(half))
	byVariance = g.op("Reshape", g.op("Mul", each, byVariance), flat)
	image := g.in("", "Concat", []string{g.op("Mul", p, g.matrix([][]float64{shares})), byMean, byVariance}, attributeInt("axis", 1))

	// The scale of the scores is applied to the support vectors, twice.
	z := mat.NewDense(k*(1+2*d), len(g.m.Supports.Vectors), nil)
	for j, v := range g.m.Supports.Vectors {
		own := f.Image(v)
		for a, s := range f.Scale() {
			own[a] *= s
		}
		z.SetCol(j, own)
	}
	return g.op("MatMul", image, g.dense(z))
}

// class adds the index of the predicted class for given scores.
func (g *graph) class(f string) string {
	k := len(g.m.Classes)
	switch g.m.Rule {
	case ml.Sign:
		positive := g.in("", "Cast", []string{g.op("GreaterOrEqual", f, g.floats([]float64{0}))}, attributeInt("to", isInt64))
		return g.op("Squeeze", positive, g.ints([]int64{1}))
	case ml.OneVsOne:
	default:
		return g.in("", "ArgMax", []string{f}, attributeInt("axis", 1), attributeInt("keepdims", 0))
	}
	margin, votes := mat.NewDense(len(g.m.Machines), k, nil), mat.NewDense(len(g.m.Machines), k, nil)
	against := make([]float64, k) // votes if no machine is positive
	pairs(k, func(machine, i, j int) {
		margin.Set(machine, j, 1)
		margin.Set(machine, i, -1)
		votes.Set(machine, j, 1)
		votes.Set(machine, i, -1)
		against[i]++
	})
	positive := g.in("", "Cast", []string{g.op("GreaterOrEqual", f, g.floats([]float64{0}))}, attributeInt("to", isFloat))
	count := g.op("Add", g.op("MatMul", positive, g.dense(votes)), g.matrix([][]float64{against}))
	most := g.op("Equal", count, g.in("", "ReduceMax", []string{count}, attributeInts("axes", []int64{1}), attributeInt("keepdims", 1)))
	margins := g.op("Where", most, g.op("MatMul", f, g.dense(margin)), g.floats([]float64{-math.MaxFloat32}))
	return g.in("", "ArgMax", []string{margins}, attributeInt("axis", 1), attributeInt("keepdims", 0))
}

// classes adds the classes of the model.
func (g *graph) classes() string {
	if own := integers(g.m.Classes); own != nil {
		return g.ints(own)
	}
	var t message
	for _, c := range g.m.Classes {
		t.text(6, []byte(c))
	}
	return g.tensor(isString, []int64{int64(len(g.m.Classes))}, t)
}

// op adds a node with a basic operator, and returns the name of its result.
func (g *graph) op(operator string, inputs ...string) string { return g.in("", operator, inputs) }

// in adds a node with one result, and returns its name.
func (g *graph) in(domain, operator string, inputs []string, attributes ...[]byte) string {
	g.names++
	name := fmt.Sprintf("%s_%d", operator, g.names)
	g.node(domain, operator, inputs, []string{name}, attributes...)
	return name
}

func (g *graph) node(domain, operator string, inputs, outputs []string, attributes ...[]byte) {
	var n message
	for _, name := range inputs {
		n.text(1, []byte(name))
	}
	for _, name := range outputs {
		n.text(2, []byte(name))
	}
	n.text(3, []byte(operator+" "+outputs[0]))
	n.text(4, []byte(operator))
	for _, a := range attributes {
		n.text(5, a)
	}
	if domain != "" {
		n.text(7, []byte(domain))
	}
	g.nodes = append(g.nodes, n)
}

// tensor adds a constant with the values in t, and returns its name.
func (g *graph) tensor(kind int, dims []int64, t message) string {
	g.names++
	name := fmt.Sprintf("constant_%d", g.names)
	for _, n := range dims {
		t.number(1, n)
	}
	t.number(2, int64(kind))
	t.text(8, []byte(name))
	g.tensors = append(g.tensors, t)
	return name
}

func (g *graph) floatTensor(v []float64, dims ...int64) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
	}
	var t message
	t.text(9, raw)
	return g.tensor(isFloat, dims, t)
}

func (g *graph) floats(v []float64) string { return g.floatTensor(v, int64(len(v))) }

func (g *graph) dense(x *mat.Dense) string {
	n, d := x.Dims()
	return g.floatTensor(x.RawMatrix().Data, int64(n), int64(d))
}

func (g *graph) matrix(v [][]float64) string { return g.dense(rows(v)) }

func (g *graph) ints(v []int64) string {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	var t message
	t.text(9, raw)
	return g.tensor(isInt64, []int64{int64(len(v))}, t)
}

// rows returns the matrix of at least one vector.
func rows(v [][]float64) *mat.Dense {
	return mat.NewDense(len(v), len(v[0]), slices.Concat(v...))
}

// Attributes of nodes, with their type numbers.

func attribute(name string, kind int64, fill func(a *message)) []byte {
	var a message
	a.text(1, []byte(name))
	fill(&a)
	a.number(20, kind)
	return a
}

func attributeInt(name string, v int64) []byte {
	return attribute(name, 2, func(a *message) { a.number(3, v) })
}

func attributeText(name, v string) []byte {
	return attribute(name, 3, func(a *message) { a.text(4, []byte(v)) })
}

func attributeFloats(name string, v []float64) []byte {
	return attribute(name, 6, func(a *message) {
		for _, x := range v {
			a.float(7, float32(x))
		}
	})
}

func attributeInts(name string, v []int64) []byte {
	return attribute(name, 7, func(a *message) {
		for _, x := range v {
			a.number(8, x)
		}
	})
}

// value describes an input or output; -1 stands for the number of rows.
func value(name string, kind int, dims ...int64) []byte {
	var shape, tensor, t, v message
	for _, n := range dims {
		var d message
		if n < 0 {
			d.text(2, []byte("N"))
		} else {
			d.number(1, n)
		}
		shape.text(1, d)
	}
	tensor.number(1, int64(kind))
	tensor.text(2, shape)
	t.text(1, tensor)
	v.text(1, []byte(name))
	v.text(2, t)
	return v
}

func opset(domain string, version int64) []byte {
	var o message
	o.text(1, []byte(domain))
	o.number(2, version)
	return o
}

func property(key, v string) []byte {
	var p message
	p.text(1, []byte(key))
	p.text(2, []byte(v))
	return p
}
