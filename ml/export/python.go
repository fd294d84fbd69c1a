package export

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// writePython writes a module that evaluates the model as Model.Scores does.
func writePython(w io.Writer, m *ml.Model) error {
	text, fishers, err := pythonKernel(m.Kernel)
	if err != nil {
		return err
	}
	return pythonModule().Execute(w, map[string]any{
		"Model": m, "Kernel": text, "Fishers": fishers, "Mapped": mapped(m), "One": len(m.Machines) == 1,
		"Coef": coefColumns(m), "B": biases(m),
	})
}

// coefColumns returns the coefficients, a row per support vector and a column per machine.
func coefColumns(m *ml.Model) [][]float64 {
	rows := make([][]float64, len(m.Supports.Vectors))
	for j := range rows {
		for _, machine := range m.Machines {
			rows[j] = append(rows[j], machine.Coef[j])
		}
	}
	return rows
}

func biases(m *ml.Model) []float64 {
	return lists.Map(m.Machines, func(machine ml.Machine) float64 { return machine.B })
}

// pythonFisher holds the fitted state of one Fisher kernel.
type pythonFisher struct {
	Number int
	kernel.Fitted
}

// pythonKernel returns a NumPy expression for the values k(x_j, x) at all support vectors x_j.
func pythonKernel(k kernel.Kernel) (text string, fishers []pythonFisher, err error) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	const squares, product = "((SUPPORTS - x) ** 2).sum(axis=1)", "SUPPORTS @ x"
	text, err = kernel.Reduce(k,
		func(k kernel.Kernel) string {
			p := func(name string) string { return number(k.Values.Number(name)) }
			switch k.Name {
			case "linear":
				return product
			case "poly":
				return "(" + p("gamma") + " * (" + product + ") + " + p("coef0") + ") ** " + p("degree")
			case "rbf":
				return "np.exp(-" + p("gamma") + " * " + squares + ")"
			case "sigmoid":
				return "np.tanh(" + p("gamma") + " * (" + product + ") + " + p("coef0") + ")"
			case "laplacian":
				return "np.exp(-" + p("gamma") + " * np.abs(SUPPORTS - x).sum(axis=1))"
			case "rational_quadratic":
				return "(1 + " + number(k.Values.Number("gamma")/k.Values.Number("shape")) + " * " + squares + ") ** -" + p("shape")
			case "fisher":
				fishers = append(fishers, pythonFisher{len(fishers) + 1, k.Fitted[0]})
				return fmt.Sprintf("IMAGES_%d @ image_%[1]d(x)", len(fishers))
			}
			panic("export: no Python for the kernel " + k.Name) // a test covers the table
		},
		number,
		func(a, b string) string { return a + " + " + b },
		func(a, b string) string { return "(" + a + ") * (" + b + ")" },
	)
	return text, fishers, err
}

// pythonModule is the template of the module. All external text is quoted.
var pythonModule = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"quote": strconv.Quote,
		"names": func(names []string) string {
			quoted := lists.Map(names, strconv.Quote)
			return "[" + strings.Join(quoted, ", ") + "]"
		},
		"classes": func(classes []string) string {
			own := integers(classes)
			words := make([]string, len(classes))
			for i, c := range classes {
				if words[i] = strconv.Quote(c); own != nil {
					words[i] = strconv.FormatInt(own[i], 10)
				}
			}
			return "[" + strings.Join(words, ", ") + "]"
		},
		"vector": pythonVector,
		"matrix": func(rows [][]float64) string {
			var s strings.Builder
			s.WriteString("[\n")
			for _, row := range rows {
				s.WriteString("    " + pythonVector(row) + ",\n")
			}
			return s.String() + "]"
		},
		"times": func(f kernel.Fitted) []float64 { return f.Scale() },
		"nonzero": func(coef []float64) bool {
			return slices.ContainsFunc(coef, func(u float64) bool { return u != 0 })
		},
	}).Parse(`"""A model of Margin Lab as a Python module. It needs NumPy only.

predict(X){{if ne .Model.Rule "value"}} returns the class of every row of X,{{else}} returns the value at every row of X,{{end}}
decision_function(X) returns f{{if not .One}}, one column for each machine in MACHINES{{end}}.
The columns of X are FEATURES, in this order, in the units of the data.
"""

import numpy as np

{{if .Model.Fill}}
def inputs(X):
    """Return the rows of X as the kernel sees them; NaN is a missing value."""
    X = np.asarray(X, dtype=float)
    X = np.where(np.isnan(X), FILL, X)
{{- else}}
def inputs(X):
    """Return the rows of X as the kernel sees them."""
    X = np.asarray(X, dtype=float)
{{- end}}
    if not np.isfinite(X).all():
        raise ValueError("expected finite numbers")
    if X.ndim != 2 or X.shape[1] != len(FEATURES):
        raise ValueError(f"expected rows of {len(FEATURES)} numbers: {', '.join(FEATURES)}")
{{- if .Model.Scaler}}
    X = (X - MEAN) / SCALE
{{- end}}
{{- if .Model.Projection}}
    X = (X - CENTRE) @ COMPONENTS.T
{{- end}}
    return X


def kernel(x):
    """Return k(x_j, x) for every support vector x_j."""
    return {{.Kernel}}

{{if .Mapped}}
def factors(Z):
    """Return the conformal factor c of every machine at the rows of Z."""
    return np.array([
        [alpha0 + alpha @ np.exp(-gamma * ((cores - z) ** 2).sum(axis=1)) for alpha0, gamma, alpha, cores in MAPS]
        for z in Z
    ]).reshape(-1, len(MAPS))

{{end}}
def scores(X):
    """Return f of every machine at every row of X."""
{{- if .Mapped}}
    Z = inputs(X)
    f = np.array([kernel(z) @ WEIGHTS for z in Z]).reshape(-1, len(B))
    return factors(Z) * f + B
{{- else}}
    return np.array([kernel(x) @ COEF + B for x in inputs(X)]).reshape(-1, len(B))
{{- end}}


def decision_function(X):
{{- if .One}}
    """Return f(x) of every row of X{{if eq .Model.Rule "sign"}}; the second class is where f(x) >= 0{{end}}."""
    return scores(X)[:, 0]
{{- else}}
    """Return f(x) of every row of X, one column for each machine."""
    return scores(X)
{{- end}}
{{- if and (ne .Model.Rule "sign") (ne .Model.Rule "value")}}


def largest(f, size):
    """Return the first column of each row whose value is the largest but for rounding."""
    return (f >= f.max(axis=1, keepdims=True) - size / 2**32).argmax(axis=1)
{{- end}}


def predict(X):
{{- if eq .Model.Rule "value"}}
    """Return the value at every row of X."""
    return decision_function(X)
{{- else}}
    """Return the class of every row of X."""
{{- if eq .Model.Rule "sign"}}
    return CLASSES[(decision_function(X) >= 0).astype(int)]
{{- else if eq .Model.Rule "ovo"}}
    f = scores(X)
    votes, margins = np.zeros((len(f), len(CLASSES))), np.zeros((len(f), len(CLASSES)))
    for k, (negative, positive) in enumerate(PAIRS):
        votes[:, positive] += f[:, k] >= 0
        votes[:, negative] += f[:, k] < 0
        margins[:, positive] += f[:, k]
        margins[:, negative] -= f[:, k]
    # Of the classes with most votes, the one with the largest sum of margins.
    most = votes == votes.max(axis=1, keepdims=True)
    return CLASSES[largest(np.where(most, margins, -np.inf), abs(margins).max(axis=1, keepdims=True))]
{{- else}}
    f = scores(X)
    return CLASSES[largest(f, abs(f).max(axis=1, keepdims=True))]
{{- end}}
{{- end}}
{{if .Model.Platt}}

def predict_proba(X):
    """Return the calibrated probability of each class, in the order of CLASSES."""
    z = {{.Model.Platt.A}} * decision_function(X) + {{.Model.Platt.B}}
    p = np.exp(-np.logaddexp(0, z))
    return np.column_stack([1 - p, p])
{{end}}
{{- range .Fishers}}

def image_{{.Number}}(x):
    """Return the scaled Fisher score of x: the gradient of log p(x) of a mixture of Gaussians."""
    d = x - MEANS_{{.Number}}
    squares = d**2 / VARIANCES_{{.Number}}
    log_p = np.log(SHARES_{{.Number}}) - np.log(2 * np.pi * VARIANCES_{{.Number}}).sum(axis=1) / 2 - squares.sum(axis=1) / 2
    p = np.exp(log_p - log_p.max())
    p = p / p.sum()
    by_mean = p[:, None] * d / VARIANCES_{{.Number}}
    by_variance = p[:, None] * (squares - 1) / VARIANCES_{{.Number}} / 2
    image = np.concatenate([p / SHARES_{{.Number}}, by_mean.ravel(), by_variance.ravel()])
    return image{{if .Information}} * TIMES_{{.Number}}{{end}}
{{end}}

LABEL = {{quote .Model.Label}}
FEATURES = {{names .Model.Features}}
{{- if ne .Model.Rule "value"}}
CLASSES = np.array({{classes .Model.Classes}})
{{- end}}
{{- if not .One}}
MACHINES = {{names .Model.ScoreNames}}
{{- end}}
{{- if eq .Model.Rule "ovo"}}
PAIRS = [(i, j) for i in range(len(CLASSES)) for j in range(i + 1, len(CLASSES))]  # (negative, positive) class
{{- end}}
{{- with .Model.Fill}}

# In the place of missing values
FILL = np.array({{vector .}})
{{- end}}
{{- with .Model.Scaler}}

# Standardisation
MEAN = np.array({{vector .Mean}})
SCALE = np.array({{vector .Scale}})
{{- end}}
{{- with .Model.Projection}}

# Principal components
CENTRE = np.array({{vector .Mean}})
COMPONENTS = np.array({{matrix .Components}})
{{- end}}

# Bias, coefficients and support vectors
B = np.array({{vector .B}})
COEF = np.array({{matrix .Coef}}, dtype=float).reshape(-1, len(B))
SUPPORTS = np.array({{matrix .Model.Supports.Vectors}}, dtype=float).reshape(len(COEF), -1)
{{- range .Fishers}}

SHARES_{{.Number}} = np.array({{vector .Weights}})
MEANS_{{.Number}} = np.array({{matrix .Means}})
VARIANCES_{{.Number}} = np.array({{matrix .Variances}})
{{- if .Information}}
TIMES_{{.Number}} = np.array({{vector (times .Fitted)}})
{{- end}}
IMAGES_{{.Number}} = np.array([image_{{.Number}}(z) for z in SUPPORTS])
{{- end}}
{{- if .Mapped}}

# Conformal maps, one for each machine: alpha0, gamma, alpha, cores
MAPS = [
{{- range .Model.Machines}}
    ({{.Map.Alpha0}}, {{.Map.Gamma}}, np.array({{vector .Map.Alpha}}), np.array({{matrix .Map.Cores}})),
{{- end}}
]
WEIGHTS = COEF * factors(SUPPORTS)
{{- end}}
`))
})

func pythonVector(v []float64) string {
	words := make([]string, len(v))
	for i, x := range v {
		words[i] = strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(words[i], ".e") {
			words[i] += "." // a float even if all are integers
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}
