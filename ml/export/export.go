// Package export writes trained models for other programs: as a model file of LIBSVM, as
// an ONNX graph, and as a Python module that needs NumPy only.
package export

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Format is one way to write a model.
type Format struct {
	Name      string
	Label     string
	Extension string // of the file, with its dot
	MediaType string
	Help      string // one sentence

	can   func(m *ml.Model) error // a *param.Refusal for what the format cannot express; nil: it can say all
	write func(w io.Writer, m *ml.Model) error
}

// Formats lists the formats in the order pages show them.
var Formats = []Format{
	{
		Name: "python", Label: "Python", Extension: ".py", MediaType: "text/x-python; charset=utf-8",
		Help: "One module with predict(X) and decision_function(X); needs NumPy only.", write: writePython,
	},
	{
		Name: "onnx", Label: "ONNX", Extension: ".onnx", MediaType: "application/octet-stream",
		Help: "A graph for ONNX Runtime and other engines, in single precision.", can: singlePrecision, write: writeONNX,
	},
	{
		Name: "libsvm", Label: "LIBSVM", Extension: ".libsvm", MediaType: "text/plain; charset=utf-8",
		Help: "A model file for svm-predict, which takes scaled rows.", can: knownToLIBSVM, write: writeLIBSVM,
	},
}

// Find returns the format of a name.
func Find(name string) (Format, error) {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	return Format{}, param.Refuse("use "+strings.Join(names, ", "), "format %q is not known", name)
}

// Check reports with a *param.Refusal what keeps m from being written in the format, naming
// one that can.
func (f Format) Check(m *ml.Model) error {
	takes, err := m.Kernel.Takes()
	switch {
	case err != nil:
		return err
	case takes != dataset.KindVectors:
		return param.Refuse("use the model as JSON with marginlab predict", "%s cannot be written: the kernel %s takes %s, and other programs' models take rows of numbers", f.Label, m.Kernel.Name, takes.Words())
	case f.can != nil:
		return f.can(m)
	}
	return nil
}

// Write writes m. It returns the error of Check for a model that the format cannot express.
func (f Format) Write(w io.Writer, m *ml.Model) error {
	if err := f.Check(m); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := f.write(&text, padded(m)); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}

// padded returns m with one support, and one core for each map, of weight 0 where there are
// none: the sums of other programs are over one term at least.
func padded(m *ml.Model) *ml.Model {
	d := len(m.Features)
	if m.Projection != nil {
		d = len(m.Projection.Components)
	}
	p := *m
	p.Machines = slices.Clone(m.Machines)
	none := len(m.Supports.Vectors) == 0
	if none {
		p.Supports.Rows, p.Supports.Vectors = []int{0}, [][]float64{make([]float64, d)}
	}
	for k := range p.Machines {
		machine := &p.Machines[k]
		if none {
			machine.Coef = []float64{0}
		}
		if c := machine.Map; c != nil && len(c.Cores) == 0 {
			c := *c
			c.Alpha, c.Cores = []float64{0}, [][]float64{make([]float64, d)}
			machine.Map = &c
		}
	}
	return &p
}

// integers returns the classes of m as whole numbers where they are such: 0, 1, -1, +1,
// 2.0. It is nil where one of them is not.
func integers(classes []string) []int64 {
	var numbers []int64
	for _, c := range classes {
		text := strings.TrimSuffix(strings.TrimPrefix(c, "+"), ".0")
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || strconv.FormatInt(n, 10) != text || slices.Contains(numbers, n) {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// pairs calls do for every pair of k classes i < j, in the order of the machines of
// ml.OneVsOne.
func pairs(k int, do func(machine, i, j int)) {
	machine := 0
	for i := range k {
		for j := i + 1; j < k; j++ {
			do(machine, i, j)
			machine++
		}
	}
}

// mapped reports whether a machine of m has a conformal map.
func mapped(m *ml.Model) bool {
	return slices.ContainsFunc(m.Machines, func(k ml.Machine) bool { return k.Map != nil })
}
