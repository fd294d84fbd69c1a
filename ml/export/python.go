package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// writePython writes a module that evaluates the model as Model.Scores does. All external text is
// quoted.
func writePython(w io.Writer, m *ml.Model) error {
	k, fishers, err := pythonKernel(m.Kernel)
	if err != nil {
		return err
	}
	out := pythonWriter{bufio.NewWriter(w)}
	sign, value, one := m.Rule == ml.Sign, m.Rule == ml.Value, len(m.Machines) == 1
	out.put(`"""A model of Margin Lab as a Python module. It needs NumPy only.

predict(X)`, lists.Either(value, " returns the value at every row of X,", " returns the class of every row of X,"), `
decision_function(X) returns f`, lists.Either(one, "", ", one column for each machine in MACHINES"), `.
The columns of X are FEATURES, in this order, in the units of the data.
"""

import numpy as np


def inputs(X):
    """Return the rows of X as the kernel sees them`, lists.Either(m.Fill == nil, "", "; NaN is a missing value"), `."""
    X = np.asarray(X, dtype=float)
`, lists.Either(m.Fill == nil, "", "    X = np.where(np.isnan(X), FILL, X)\n"), `    if not np.isfinite(X).all():
        raise ValueError("expected finite numbers")
    if X.ndim != 2 or X.shape[1] != len(FEATURES):
        raise ValueError(f"expected rows of {len(FEATURES)} numbers: {', '.join(FEATURES)}")
`, lists.Either(m.Scaler == nil, "", "    X = (X - MEAN) / SCALE\n"), lists.Either(m.Projection == nil, "", "    X = (X - CENTRE) @ COMPONENTS.T\n"), `    return X


def kernel(x):
    """Return k(x_j, x) for every support vector x_j."""
    return `, k.value, "\n\n")
	if !value && k.size != k.value {
		out.put(`
def size(x):
    """Return the sum of the magnitudes of the terms of every value of kernel(x)."""
    return `, k.size, "\n\n")
	}
	if mapped(m) {
		out.put(`
def factors(Z):
    """Return the conformal factor c of every machine at the rows of Z."""
    return np.array([
        [alpha0 + alpha @ np.exp(-gamma * ((cores - z) ** 2).sum(axis=1)) for alpha0, gamma, alpha, cores in MAPS]
        for z in Z
    ]).reshape(-1, len(MAPS))

`)
	}
	weights, times := "COEF", ""
	if mapped(m) {
		weights, times = "WEIGHTS", "c * "
	}
	sums := "    f = " + times + "np.array([kernel(z) @ " + weights + " for z in Z]).reshape(-1, len(B)) + B\n"
	if !value {
		each := lists.Either(k.size == k.value, "(k @ W, k @ abs(W)) for k in map(kernel, Z)", "(kernel(z) @ W, size(z) @ abs(W)) for z in Z")
		sums = `    f, sizes = np.array([` + strings.ReplaceAll(each, "W", weights) + `]).reshape(-1, 2, len(B)).swapaxes(0, 1)
    f, noise = ` + times + `f + B, (abs(` + times + `sizes) + abs(B)) / 2**44
`
	}
	out.put(`
def scores(X):
    """Return f of every machine at every row of X`, lists.Either(value, "", "; ties but for rounding are exact"), `."""
    Z = inputs(X)
`, lists.Either(mapped(m), "    c = factors(Z)\n", ""), sums, pythonLevels[m.Rule], `

def decision_function(X):
    """Return f(x) of every row of X`, lists.Either(!one, ", one column for each machine", lists.Either(sign, "; the second class is where f(x) >= 0", "")), `."""
    return scores(X)`, lists.Either(one, "[:, 0]", ""), `


`)
	if !sign && !value {
		out.put(`def largest(f, size):
    """Return the first column of each row whose value is the largest but for rounding."""
    return (f >= f.max(axis=1, keepdims=True) - size / 2**32).argmax(axis=1)


`)
	}
	out.put(`def predict(X):
    """Return the `, lists.Either(value, "value at", "class of"), ` every row of X."""
`, pythonRules[m.Rule], "\n")
	if m.Platt != nil {
		out.put(`
def predict_proba(X):
    """Return the calibrated probability of each class, in the order of CLASSES."""
    z = `, fmt.Sprint(m.Platt.A), " * decision_function(X) + ", fmt.Sprint(m.Platt.B), `
    p = np.exp(-np.logaddexp(0, z))
    return np.column_stack([1 - p, p])

`)
	}
	for i, f := range fishers {
		out.put(strings.ReplaceAll(`
def image_N(x):
    """Return the scaled Fisher score of x: the gradient of log p(x) of a mixture of Gaussians."""
    d = x - MEANS_N
    with np.errstate(over="ignore"):  # far away, p is 0
        squares = d**2 / VARIANCES_N
    log_p = np.log(SHARES_N) - np.log(2 * np.pi * VARIANCES_N).sum(axis=1) / 2 - squares.sum(axis=1) / 2
    p = np.exp(log_p - max(log_p.max(), np.finfo(float).min))
    p = p / max(p.sum(), 1)
    squares = np.where(p[:, None] > 0, squares, 1)
    by_mean = p[:, None] * d / VARIANCES_N
    by_variance = p[:, None] * (squares - 1) / VARIANCES_N / 2
    image = np.concatenate([p / SHARES_N, by_mean.ravel(), by_variance.ravel()])
    return image`+lists.Either(f.Information == nil, "", " * TIMES_N")+"\n\n", "_N", fmt.Sprint("_", i+1)))
	}
	out.put("\nLABEL = ", strconv.Quote(m.Label), "\nFEATURES = ", list(quoted(m.Features)), "\n")
	if !value {
		classes := quoted(m.Classes)
		if integers(m.Classes) != nil {
			classes = LIBSVMLabels(m)
		}
		out.put("CLASSES = np.array(", list(classes), ")\n")
	}
	if !one {
		out.put("MACHINES = ", list(quoted(m.ScoreNames())), "\n")
	}
	if m.Rule == ml.OneVsOne {
		out.put("PAIRS = [(i, j) for i in range(len(CLASSES)) for j in range(i + 1, len(CLASSES))]  # (negative, positive) class\n")
	}
	if m.Fill != nil {
		out.put("\n# In the place of missing values\n")
		out.vector("FILL", m.Fill)
	}
	if m.Scaler != nil {
		out.put("\n# Standardisation\n")
		out.vector("MEAN", m.Scaler.Mean)
		out.vector("SCALE", m.Scaler.Scale)
	}
	if m.Projection != nil {
		out.put("\n# Principal components\n")
		out.vector("CENTRE", m.Projection.Mean)
		out.matrix("COMPONENTS", m.Projection.Components, ")")
	}
	out.put("\n# Bias, coefficients and support vectors\n")
	out.vector("B", biases(m))
	out.matrix("COEF", coefColumns(m), ", dtype=float).reshape(-1, len(B))")
	out.matrix("SUPPORTS", m.Supports.Vectors, ", dtype=float).reshape(len(COEF), -1)")
	for i, f := range fishers {
		n := fmt.Sprint("_", i+1)
		out.put("\n")
		out.vector("SHARES"+n, f.Weights)
		out.matrix("MEANS"+n, f.Means, ")")
		out.matrix("VARIANCES"+n, f.Variances, ")")
		if f.Information != nil {
			out.vector("TIMES"+n, f.Scale())
		}
		out.put("IMAGES", n, " = np.array([image", n, "(z) for z in SUPPORTS])\n")
	}
	if mapped(m) {
		out.put("\n# Conformal maps, one for each machine: alpha0, gamma, alpha, cores\nMAPS = [\n")
		for _, machine := range m.Machines {
			c := machine.Map
			out.put("    (", fmt.Sprint(c.Alpha0), ", ", fmt.Sprint(c.Gamma), ", np.array(", pythonVector(c.Alpha), "), np.array(")
			out.rows(c.Cores)
			out.put(")),\n")
		}
		out.put("]\nWEIGHTS = COEF * factors(SUPPORTS)\n")
	}
	return out.Flush()
}

// pythonLevels holds the end of scores for every rule, as ml.Rule.level.
var pythonLevels = map[ml.Rule]string{
	ml.Value:     "    return f\n",
	ml.Sign:      pythonVotes,
	ml.OneVsOne:  pythonVotes,
	ml.OneVsRest: pythonLevel,
	ml.Argmax:    pythonLevel,
}

const (
	pythonVotes = `    return np.where(abs(f) < noise, 0, f)
`
	pythonLevel = `    most = f.max(axis=1, keepdims=True)
    return np.where(f > most - noise.max(axis=1, keepdims=True), most, f)
`
)

// pythonRules holds the end of predict for every rule.
var pythonRules = map[ml.Rule]string{
	ml.Value: `    return decision_function(X)
`,
	ml.Sign: `    return CLASSES[(decision_function(X) >= 0).astype(int)]
`,
	ml.OneVsOne: `    f = scores(X)
    votes, margins = np.zeros((len(f), len(CLASSES))), np.zeros((len(f), len(CLASSES)))
    for k, (negative, positive) in enumerate(PAIRS):
        votes[:, positive] += f[:, k] >= 0
        votes[:, negative] += f[:, k] < 0
        margins[:, positive] += f[:, k]
        margins[:, negative] -= f[:, k]
    # Of the classes with most votes, the one with the largest sum of margins.
    most = votes == votes.max(axis=1, keepdims=True)
    return CLASSES[largest(np.where(most, margins, -np.inf), abs(margins).max(axis=1, keepdims=True))]
`,
	ml.OneVsRest: pythonLargest,
	ml.Argmax:    pythonLargest,
}

const pythonLargest = `    f = scores(X)
    return CLASSES[largest(f, abs(f).max(axis=1, keepdims=True))]
`

// list returns a Python list of expressions.
func list(items []string) string { return "[" + strings.Join(items, ", ") + "]" }

func quoted(texts []string) []string { return lists.Map(texts, strconv.Quote) }

// pythonWriter writes a Python module. Flush returns the first error.
type pythonWriter struct{ *bufio.Writer }

func (w pythonWriter) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

// vector defines an array of numbers.
func (w pythonWriter) vector(name string, v []float64) {
	w.put(name, " = np.array(", pythonVector(v), ")\n")
}

// matrix defines an array of rows, up to end, which closes it.
func (w pythonWriter) matrix(name string, rows [][]float64, end string) {
	w.put(name, " = np.array(")
	w.rows(rows)
	w.put(end, "\n")
}

func (w pythonWriter) rows(rows [][]float64) {
	w.put("[\n")
	for _, row := range rows {
		w.put("    ", pythonVector(row), ",\n")
	}
	w.put("]")
}

// coefColumns returns the coefficients, a row per support vector and a column per machine.
func coefColumns(m *ml.Model) [][]float64 {
	return lists.Make(len(m.Supports.Vectors), func(j int) []float64 {
		return lists.Map(m.Machines, func(machine ml.Machine) float64 { return machine.Coef[j] })
	})
}

func biases(m *ml.Model) []float64 {
	return lists.Map(m.Machines, func(machine ml.Machine) float64 { return machine.B })
}

// pythonKernel returns NumPy expressions for the values k(x_j, x) at all support vectors x_j.
func pythonKernel(k kernel.Kernel) (text sized, fishers []kernel.Fitted, err error) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	const squares = "((SUPPORTS - x) ** 2).sum(axis=1)"
	product := sized{"SUPPORTS @ x", "abs(SUPPORTS) @ abs(x)"}
	both := func(format string) func(a, b sized) sized {
		return func(a, b sized) sized {
			return sized{fmt.Sprintf(format, a.value, b.value), fmt.Sprintf(format, a.size, b.size)}
		}
	}
	constant := func(v float64) sized { return sized{number(v), number(math.Abs(v))} }
	text, err = kernel.Reduce(k,
		func(k kernel.Kernel) sized {
			p := func(name string) string { return number(k.Values.Number(name)) }
			positive := func(text string) sized { return sized{text, text} }
			affine := both(p("gamma")+" * (%s) + %s")(product, constant(k.Values.Number("coef0")))
			switch k.Name {
			case "linear":
				return product
			case "poly":
				return both("(%s) ** %s")(affine, positive(p("degree")))
			case "rbf":
				return positive("np.exp(-" + p("gamma") + " * " + squares + ")")
			case "sigmoid":
				return sized{"np.tanh(" + affine.value + ")", "np.tanh(" + affine.size + ")"}
			case "laplacian":
				return positive("np.exp(-" + p("gamma") + " * np.abs(SUPPORTS - x).sum(axis=1))")
			case "rational_quadratic":
				return positive("(1 + " + number(k.Values.Number("gamma")/k.Values.Number("shape")) + " * " + squares + ") ** -" + p("shape"))
			case "fisher":
				fishers = append(fishers, k.Fitted[0])
				n := len(fishers)
				return sized{fmt.Sprintf("IMAGES_%d @ image_%[1]d(x)", n), fmt.Sprintf("abs(IMAGES_%d) @ abs(image_%[1]d(x))", n)}
			}
			panic("export: no Python for the kernel " + k.Name) // a test covers the table
		},
		constant, both("%s + %s"), both("(%s) * (%s)"),
	)
	return text, fishers, err
}

func pythonVector(v []float64) string {
	words := make([]string, len(v))
	for i, x := range v {
		words[i] = strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(words[i], ".e") {
			words[i] += "." // a float even if all are integers
		}
	}
	return list(words)
}
