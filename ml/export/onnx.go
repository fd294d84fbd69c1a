package export

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// The operator versions, of 2021.
const (
	onnxIR       = 7
	onnxOperator = 13
)

// Tensor types, by their ONNX numbers.
const (
	isFloat  = 1
	isInt64  = 7
	isString = 8
	isDouble = 11
)

// writeONNX writes a graph with the input X, rows of the model's features in original units. Its
// outputs are f, with a column per machine; label, unless the model predicts numbers; and, for a
// calibrated model, probability, of the positive class.
//
// X and f are in single precision, which programs pass by default. Everything between is in double
// precision, since large coefficients cancel in f. So the graph consists of basic operators:
// SVMClassifier and SVMRegressor compute in single precision.
func writeONNX(w io.Writer, m *ml.Model) error {
	g := &graph{m: m}
	x := g.inputs()
	scores, err := g.decision(x)
	if err != nil {
		return err
	}
	f := g.level(scores)
	g.node("Cast", []string{f}, []string{"f"}, attributeInt("to", isFloat))
	outputs := [][]byte{value("f", isFloat, -1, int64(len(m.Machines)))}
	if m.Rule != ml.Value {
		kind := lists.Either(integers(m.Classes) == nil, isString, isInt64)
		g.node("Gather", []string{g.classes(), g.class(f)}, []string{"label"}, attributeInt("axis", 0))
		outputs = slices.Insert(outputs, 0, value("label", kind, -1))
	}
	if p := m.Platt; p != nil {
		z := g.op("Add", g.op("Mul", f, g.numbers(-p.A)), g.numbers(-p.B))
		g.node("Cast", []string{g.op("Sigmoid", z)}, []string{"probability"}, attributeInt("to", isFloat))
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
	var operators message
	operators.number(2, onnxOperator)
	model.text(8, operators)
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

// inputs adds the preprocessing, and returns the name of its result.
func (g *graph) inputs() string {
	x := g.in("Cast", []string{"X"}, attributeInt("to", isDouble))
	if g.m.Fill != nil {
		nan := g.op("IsNaN", x)
		x = g.op("Where", nan, g.numbers(g.m.Fill...), x)
	}
	if s := g.m.Scaler; s != nil {
		x = g.op("Div", g.op("Sub", x, g.numbers(s.Mean...)), g.numbers(s.Scale...))
	}
	if p := g.m.Projection; p != nil {
		x = g.op("MatMul", g.op("Sub", x, g.numbers(p.Mean...)), g.columns(p.Components))
	}
	return x
}

// decision adds f of every machine, and its size unless the model predicts numbers.
func (g *graph) decision(x string) (f sized, err error) {
	m := g.m
	k, err := g.kernel(x)
	if err != nil {
		return f, err
	}
	coef := lists.Map(m.Machines, func(machine ml.Machine) []float64 {
		u := slices.Clone(machine.Coef)
		if machine.Map != nil {
			floats.Mul(u, machine.Map.Factors(rows(m.Supports.Vectors)))
		}
		return u
	})
	u, b := g.columns(coef), g.numbers(biases(m)...)
	f.value = g.op("MatMul", k.value, u)
	factor := ""
	if mapped(m) {
		factors := make([]string, len(m.Machines))
		for i, machine := range m.Machines {
			c := machine.Map
			near := g.op("Exp", g.op("Mul", g.squares(x, c.Cores), g.numbers(-c.Gamma)))
			factors[i] = g.op("Add", g.op("MatMul", near, g.columns([][]float64{c.Alpha})), g.numbers(c.Alpha0))
		}
		factor = g.in("Concat", factors, attributeInt("axis", 1))
		f.value = g.op("Mul", f.value, factor)
	}
	f.value = g.op("Add", f.value, b)
	if m.Rule == ml.Value {
		return f, nil
	}
	f.size = g.op("MatMul", k.size, g.op("Abs", u))
	if factor != "" {
		f.size = g.op("Mul", f.size, g.op("Abs", factor))
	}
	f.size = g.op("Add", f.size, g.op("Abs", b))
	return f, nil
}

// level makes ties exact as Model.Scores does: a vote counts as f = 0, scores near the largest equal it.
func (g *graph) level(f sized) string {
	if g.m.Rule == ml.Value {
		return f.value
	}
	by := g.op("Mul", f.size, g.numbers(ml.Noise))
	if g.m.Rule == ml.Sign || g.m.Rule == ml.OneVsOne {
		return g.op("Where", g.op("Less", g.op("Abs", f.value), by), g.numbers(0), f.value)
	}
	most := g.max(f.value)
	return g.op("Where", g.op("Greater", f.value, g.op("Sub", most, g.max(by))), most, f.value)
}

// kernel adds k(x, x_j) for all support vectors x_j: a row for each x.
func (g *graph) kernel(x string) (sized, error) {
	m := g.m
	supports := g.columns(m.Supports.Vectors)
	inner := func(x, z string) sized {
		return sized{g.op("MatMul", x, z), g.op("MatMul", g.op("Abs", x), g.op("Abs", z))}
	}
	positive := func(v string) sized { return sized{v, v} }
	both := func(operator string) func(a, b sized) sized {
		return func(a, b sized) sized {
			return sized{g.op(operator, a.value, b.value), g.op(operator, a.size, b.size)}
		}
	}
	constant := func(v float64) sized { return sized{g.numbers(v), g.numbers(math.Abs(v))} }
	return kernel.Reduce(m.Kernel,
		func(k kernel.Kernel) sized {
			scaled := func(v string, by float64) string { return g.op("Mul", v, g.numbers(by)) }
			gamma := k.Values.Number("gamma")
			affine := func() sized {
				p, c := inner(x, supports), k.Values.Number("coef0")
				return both("Add")(sized{scaled(p.value, gamma), scaled(p.size, gamma)}, constant(c))
			}
			switch k.Name {
			case "linear":
				return inner(x, supports)
			case "poly":
				degree := g.numbers(k.Values.Number("degree"))
				return both("Pow")(affine(), sized{degree, degree})
			case "rbf":
				return positive(g.op("Exp", scaled(g.squares(x, m.Supports.Vectors), -gamma)))
			case "sigmoid":
				p := affine()
				return sized{g.op("Tanh", p.value), g.op("Tanh", p.size)}
			case "laplacian":
				return positive(g.op("Exp", scaled(g.sums(g.op("Abs", g.differences(x, m.Supports.Vectors))), -gamma)))
			case "rational_quadratic":
				shape := k.Values.Number("shape")
				base := g.op("Add", scaled(g.squares(x, m.Supports.Vectors), gamma/shape), g.numbers(1))
				return positive(g.op("Pow", base, g.numbers(-shape)))
			case "fisher":
				return inner(g.fisher(x, &k.Fitted[0]))
			}
			panic("export: no ONNX for the kernel " + k.Name) // a test covers the table
		},
		constant, both("Add"), both("Mul"),
	)
}

// differences adds x - z_j for all z_j: a matrix for each x.
func (g *graph) differences(x string, z [][]float64) string {
	return g.op("Sub", g.op("Unsqueeze", x, g.ints([]int64{1})), g.matrix(z))
}

// sums adds the sums over the last axis of a tensor with three axes.
func (g *graph) sums(x string) string {
	return g.in("ReduceSum", []string{x, g.ints([]int64{2})}, attributeInt("keepdims", 0))
}

// squares adds |x - z_j|² = |x|² - 2x·z_j + |z_j|² for all z_j, a row for each x, without a tensor of
// all differences.
func (g *graph) squares(x string, z [][]float64) string {
	norms, twice := make([]float64, len(z)), mat.DenseCopyOf(rows(z).T())
	for j, v := range z {
		norms[j] = floats.Dot(v, v)
	}
	twice.Scale(-2, twice)
	own := g.op("ReduceSum", g.op("Mul", x, x), g.ints([]int64{1}))
	return g.op("Add", g.op("Add", own, g.op("MatMul", x, g.dense(twice))), g.numbers(norms...))
}

// fisher adds the scores of x and those of the support vectors, as columns with the scale of both.
func (g *graph) fisher(x string, f *kernel.Fitted) (image, supports string) {
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
	logs := g.op("Add", g.op("Mul", g.sums(squares), g.numbers(-0.5)), g.numbers(front...))
	p := g.in("Softmax", []string{logs}, attributeInt("axis", 1))
	each := g.op("Unsqueeze", p, g.ints([]int64{2}))
	flat := g.ints([]int64{-1, int64(k * d)})
	byMean = g.op("Reshape", g.op("Mul", each, byMean), flat)
	byVariance := g.op("Mul", g.op("Sub", squares, g.numbers(1)), g.matrix(half))
	byVariance = g.op("Reshape", g.op("Mul", each, byVariance), flat)
	image = g.in("Concat", []string{g.op("Mul", p, g.numbers(shares...)), byMean, byVariance}, attributeInt("axis", 1))
	z := lists.Map(g.m.Supports.Vectors, func(v []float64) []float64 {
		own := f.Image(v)
		floats.Mul(own, f.Scale())
		return own
	})
	return image, g.columns(z)
}

// class adds the index of the predicted class for given scores.
func (g *graph) class(f string) string {
	k := len(g.m.Classes)
	switch g.m.Rule {
	case ml.Sign:
		positive := g.in("Cast", []string{g.op("GreaterOrEqual", f, g.numbers(0))}, attributeInt("to", isInt64))
		return g.op("Squeeze", positive, g.ints([]int64{1}))
	case ml.OneVsOne:
	default:
		return g.largest(f, f)
	}
	signs := mat.NewDense(len(g.m.Machines), k, nil) // 1 for the class that a positive machine votes for, -1 for the other
	against := make([]float64, k)                    // votes if no machine is positive
	pairs(k, func(machine, i, j int) {
		signs.Set(machine, j, 1)
		signs.Set(machine, i, -1)
		against[i]++
	})
	of := g.dense(signs)
	positive := g.in("Cast", []string{g.op("GreaterOrEqual", f, g.numbers(0))}, attributeInt("to", isDouble))
	count := g.op("Add", g.op("MatMul", positive, of), g.numbers(against...))
	most := g.op("Equal", count, g.max(count))
	margins := g.op("MatMul", f, of)
	return g.largest(g.op("Where", most, margins, g.numbers(-math.MaxFloat64)), margins)
}

// largest adds the index of the first value of each row that equals the largest up to rounding,
// relative to the largest magnitude in sizes.
func (g *graph) largest(f, sizes string) string {
	least := g.op("Sub", g.max(f), g.op("Mul", g.max(g.op("Abs", sizes)), g.numbers(1.0/(1<<32))))
	candidates := g.in("Cast", []string{g.op("GreaterOrEqual", f, least)}, attributeInt("to", isFloat))
	return g.in("ArgMax", []string{candidates}, attributeInt("axis", 1), attributeInt("keepdims", 0))
}

// max adds the largest value of each row, as a column.
func (g *graph) max(x string) string {
	return g.in("ReduceMax", []string{x}, attribute("axes", 7, 8, 1))
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
	return g.tensor(isString, []int{len(g.m.Classes)}, t)
}

// op adds a node with a basic operator, and returns the name of its result.
func (g *graph) op(operator string, inputs ...string) string { return g.in(operator, inputs) }

// in adds a node with one result, and returns the result's name.
func (g *graph) in(operator string, inputs []string, attributes ...[]byte) string {
	g.names++
	name := fmt.Sprintf("%s_%d", operator, g.names)
	g.node(operator, inputs, []string{name}, attributes...)
	return name
}

func (g *graph) node(operator string, inputs, outputs []string, attributes ...[]byte) {
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
	g.nodes = append(g.nodes, n)
}

// tensor adds a constant with the values in t, and returns its name.
func (g *graph) tensor(kind int, dims []int, t message) string {
	g.names++
	name := fmt.Sprintf("constant_%d", g.names)
	for _, n := range dims {
		t.number(1, int64(n))
	}
	t.number(2, int64(kind))
	t.text(8, []byte(name))
	g.tensors = append(g.tensors, t)
	return name
}

// raw adds a constant with the numbers in v, a slice of float64 or int64.
func (g *graph) raw(kind int, v any, dims ...int) string {
	data, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	var t message
	t.text(9, data)
	return g.tensor(kind, dims, t)
}

func (g *graph) ints(v []int64) string { return g.raw(isInt64, v, len(v)) }

func (g *graph) numbers(v ...float64) string { return g.raw(isDouble, v, len(v)) }

func (g *graph) dense(x *mat.Dense) string {
	n, d := x.Dims()
	return g.raw(isDouble, x.RawMatrix().Data, n, d)
}

func (g *graph) matrix(v [][]float64) string { return g.dense(rows(v)) }

func (g *graph) columns(v [][]float64) string { return g.dense(mat.DenseCopyOf(rows(v).T())) }

// rows returns the matrix of at least one vector.
func rows(v [][]float64) *mat.Dense {
	return mat.NewDense(len(v), len(v[0]), slices.Concat(v...))
}

func attributeInt(name string, v int64) []byte { return attribute(name, 2, 3, v) }

// attribute returns an attribute of a node: v in the field of its type.
func attribute(name string, kind int64, field int, v int64) []byte {
	var a message
	a.text(1, []byte(name))
	a.number(field, v)
	a.number(20, kind)
	return a
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

func property(key, v string) []byte {
	var p message
	p.text(1, []byte(key))
	p.text(2, []byte(v))
	return p
}
