// Package export writes trained models for other programs: as a LIBSVM model file, as an ONNX
// graph, and as a Python module that needs only NumPy.
package export

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Format is a format for models.
type Format struct {
	Name      string
	Label     string
	Extension string // including the dot
	MediaType string
	Help      string // one sentence

	can   func(m *ml.Model) error // returns a *param.Refusal if the format cannot express m; nil if it can express every model
	write func(w io.Writer, m *ml.Model) error
}

// Formats lists the formats in the order shown on pages.
var Formats = []Format{
	{
		Name: "python", Label: "Python", Extension: ".py", MediaType: "text/x-python; charset=utf-8",
		Help: "One module with predict(X) and decision_function(X); needs NumPy only.", write: writePython,
	},
	{
		Name: "onnx", Label: "ONNX", Extension: ".onnx", MediaType: "application/octet-stream",
		Help: "A graph for ONNX Runtime and other engines, with inputs in single precision.", write: writeONNX,
	},
	{
		Name: "libsvm", Label: "LIBSVM", Extension: ".libsvm", MediaType: "text/plain; charset=utf-8",
		Help: "A model file for svm-predict, which takes scaled rows.", can: checkLIBSVM, write: writeLIBSVM,
	},
}

// Find returns the format with the given name.
func Find(name string) (Format, error) {
	if i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name }); i >= 0 {
		return Formats[i], nil
	}
	names := lists.Map(Formats, func(f Format) string { return f.Name })
	return Format{}, param.Refuse("use "+strings.Join(names, ", "), "format %q is not known", name)
}

// Check returns a *param.Refusal if m cannot be written in the format, naming an alternative.
func (f Format) Check(m *ml.Model) error {
	takes, err := m.Kernel.Takes()
	switch {
	case err != nil:
		return err
	case takes != dataset.KindVectors:
		return param.Refuse("use the JSON model with marginlab predict", "exported models take rows of numbers, but the kernel %s takes %s", m.Kernel.Name, takes.Words())
	case f.can != nil:
		return f.can(m)
	}
	return nil
}

// Write writes m. It returns the error of Check if the format cannot express it.
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

// padded returns m or, if it has no support vectors or a map has no cores, m with one of weight 0,
// since other programs need at least one term.
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

// integers returns the classes of m as integers, such as 0, -1, +1 or 2.0, or nil if a class is not
// an integer.
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

// pairs calls do for every pair of k classes i < j, in the order of the machines of ml.OneVsOne.
func pairs(k int, do func(machine, i, j int)) {
	machine := 0
	for i := range k {
		for j := i + 1; j < k; j++ {
			do(machine, i, j)
			machine++
		}
	}
}

// sized is an expression of another program for a value, and one for the sum of the magnitudes of the
// terms that cancel in it, to which rounding errors are proportional.
type sized struct{ value, size string }

// mapped reports whether a machine of m has a conformal map.
func mapped(m *ml.Model) bool {
	return slices.ContainsFunc(m.Machines, func(k ml.Machine) bool { return k.Map != nil })
}
