package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// libsvmKernels maps kernels to their LIBSVM names and parameters.
var libsvmKernels = map[string]struct {
	name   string
	params []string
}{
	"linear":  {"linear", nil},
	"poly":    {"polynomial", []string{"degree", "gamma", "coef0"}},
	"rbf":     {"rbf", []string{"gamma"}},
	"sigmoid": {"sigmoid", []string{"gamma", "coef0"}},
}

// checkLIBSVM returns an error if LIBSVM cannot express m.
func checkLIBSVM(m *ml.Model) error {
	_, ok := libsvmKernels[m.Kernel.Name]
	switch {
	case !ok:
		return param.Refuse("use ONNX or Python", "LIBSVM has no kernel %s", m.Kernel.Name)
	case mapped(m):
		return param.Refuse("use ONNX or Python", "LIBSVM has no conformal kernels")
	case m.Rule == ml.OneVsRest || m.Rule == ml.Argmax:
		return param.Refuse("use ONNX or Python, or train one-vs-one", "LIBSVM has no rule %s: its models have one machine for each pair of classes", m.Rule)
	}
	return nil
}

// writeLIBSVM writes a LIBSVM model file. Its classes are in reverse order, so that the decision
// values are equal: LIBSVM's are positive for the class named first, ours for the later one.
// LIBSVM subtracts rho = -b.
//
// One-vs-one predictions agree except for tied votes: LIBSVM predicts the class named first, our
// models the one with the largest sum of margins.
func writeLIBSVM(w io.Writer, m *ml.Model) error {
	k := libsvmKernels[m.Kernel.Name]
	b := bufio.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	line := func(name string, values ...string) {
		fmt.Fprint(b, name)
		for _, v := range values {
			fmt.Fprint(b, " ", v)
		}
		fmt.Fprintln(b)
	}
	g := group(m)
	line("svm_type", map[bool]string{true: "epsilon_svr", false: "c_svc"}[m.Rule == ml.Value])
	line("kernel_type", k.name)
	for _, name := range k.params {
		line(name, number(m.Kernel.Values.Number(name)))
	}
	line("nr_class", strconv.Itoa(max(2, len(m.Classes))))
	line("total_sv", strconv.Itoa(len(g.at)))
	rho := lists.Map(g.machines, func(machine int) string { return number(-m.Machines[machine].B) })
	line("rho", rho...)
	if m.Rule != ml.Value {
		labels, sizes := LIBSVMLabels(m), make([]string, len(g.sizes))
		slices.Reverse(labels)
		line("label", labels...)
		if m.Platt != nil {
			line("probA", number(m.Platt.A))
			line("probB", number(m.Platt.B))
		}
		for i, n := range g.sizes {
			sizes[i] = strconv.Itoa(n)
		}
		line("nr_sv", sizes...)
	}
	line("SV")
	for i, at := range g.at {
		for _, c := range g.coef {
			fmt.Fprint(b, number(c[i]), " ")
		}
		writeSparse(b, m.Supports.Vectors[at])
	}
	return b.Flush()
}

// writeSparse writes index:value for non-zero entries, and ends the line.
func writeSparse(w io.Writer, x []float64) {
	for j, v := range x {
		if v != 0 {
			fmt.Fprintf(w, "%d:%s ", j+1, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	fmt.Fprintln(w)
}

// LIBSVMLabels returns the numbers of the classes of m in a model file, in the order of
// m.Classes: the classes themselves if all are integers, else 0, 1, ….
func LIBSVMLabels(m *ml.Model) []string {
	labels := make([]string, len(m.Classes))
	own := integers(m.Classes)
	for i := range labels {
		if labels[i] = strconv.Itoa(i); own != nil {
			labels[i] = strconv.FormatInt(own[i], 10)
		}
	}
	return labels
}

// LIBSVMNotes returns notes for users of a model file: the numbers of the classes, the predictions
// that differ and, unless scaled is set, the preprocessing that rows need.
func LIBSVMNotes(m *ml.Model, scaled bool) (notes []string) {
	if m.Rule != ml.Value && integers(m.Classes) == nil {
		labels := LIBSVMLabels(m)
		parts := lists.Make(len(labels), func(i int) string { return labels[i] + " is " + m.Classes[i] })
		notes = append(notes, "LIBSVM numbers the classes: "+strings.Join(parts, ", "))
	}
	if m.Rule == ml.OneVsOne {
		notes = append(notes, "where votes tie, svm-predict predicts the first class that the file lists, not the one with the largest sum of margins")
	}
	if !scaled && (m.Fill != nil || m.Scaler != nil || m.Projection != nil) {
		notes = append(notes, "svm-predict needs standardised rows; export --data FILE writes them")
	}
	return notes
}

// WriteLIBSVMData writes rows of the model's features in original units (n x d), imputed, scaled and
// projected, as input of LIBSVM's svm-predict for this model. labels holds their labels, or is nil;
// labels unknown to the model become 0.
func WriteLIBSVMData(w io.Writer, m *ml.Model, x *mat.Dense, labels []string) error {
	b := bufio.NewWriter(w)
	numbers, in := LIBSVMLabels(m), m.Inputs(x)
	n, _ := in.Dims()
	for i := range n {
		label := "0"
		if labels != nil {
			if c := m.ClassOf(labels[i]); c >= 0 {
				label = numbers[c]
			} else if _, err := strconv.ParseFloat(labels[i], 64); err == nil && m.Rule == ml.Value {
				label = labels[i]
			}
		}
		fmt.Fprint(b, label, " ")
		writeSparse(b, in.RawRowView(i))
	}
	return b.Flush()
}

// grouped holds the support vectors of a model in LIBSVM's order, class by class. A support
// vector of class c has a coefficient for each other class, from the machine for the pair.
type grouped struct {
	at       []int       // indices of support vectors in the model
	sizes    []int       // of the classes
	coef     [][]float64 // classes - 1 rows
	machines []int       // indices in the model, in the order of the pairs
}

// group arranges the support vectors of a model under Sign, OneVsOne or Value. Classes are
// numbered in the reverse of the model's order, so that a machine is positive for the first of its
// two classes. Every class has a support vector, if necessary of weight 0, since engines expect one.
func group(m *ml.Model) grouped {
	k := max(2, len(m.Classes))
	machineOf := lists.Make(k, func(int) []int { return make([]int, k) })
	pairs(k, func(machine, i, j int) { // in the model's order
		machineOf[k-1-i][k-1-j], machineOf[k-1-j][k-1-i] = machine, machine
	})
	g := grouped{coef: make([][]float64, k-1), sizes: make([]int, k)}
	pairs(k, func(_, i, j int) { g.machines = append(g.machines, machineOf[i][j]) })
	for c := range k {
		add := func(at int, weight float64) {
			g.at = append(g.at, at)
			g.sizes[c]++
			for other := range k {
				row := other
				if other > c {
					row--
				}
				if other != c {
					g.coef[row] = append(g.coef[row], weight*m.Machines[machineOf[c][other]].Coef[at])
				}
			}
		}
		for at := range m.Supports.Vectors {
			if classOf(m, machineOf, at) == c {
				add(at, 1)
			}
		}
		if g.sizes[c] == 0 {
			add(0, 0)
		}
	}
	return g
}

// classOf returns the class of a support vector: the class common to all machines that use it. If
// only one machine uses it, both classes give the same sum, and the sign of its coefficient decides.
// It returns -1 if no machine uses it.
func classOf(m *ml.Model, machineOf [][]int, at int) int {
	uses := lists.Count(m.Machines, func(machine ml.Machine) bool { return machine.Coef[at] != 0 })
	for c, row := range machineOf {
		found := 0
		for other, machine := range row {
			u := m.Machines[machine].Coef[at]
			if other != c && u != 0 && (uses > 1 || u > 0 == (c < other)) {
				found++
			}
		}
		if uses > 0 && found == uses {
			return c
		}
	}
	return -1
}
