package runs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
)

// clientCode returns Python code that fetches a run from the server at origin and trains it again.
func clientCode(run store.Run, origin string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Save %s/client.py as marginlab.py beside this.\nimport os\n\nfrom marginlab import Lab\n\n", origin)
	fmt.Fprintf(&b, "lab = Lab(%q, os.environ[\"MARGINLAB_TOKEN\"])  # the key that Settings shows\n", origin)
	fmt.Fprintf(&b, "run = lab.run(%q)\nprint(run.report)\n", run.ID)
	if run.Model.Objects == dataset.KindVectors {
		b.WriteString("model = run.model()  # predicts here, with NumPy\n")
	}
	b.WriteString("spec = {")
	for i, p := range results.Chosen(run.Spec) {
		if i > 0 {
			b.WriteString(", ")
		}
		text := run.Spec.Text(p.Name)
		_, err := strconv.ParseFloat(text, 64)
		switch {
		case p.Kind == param.Switch:
			text = map[string]string{"true": "True", "false": "False"}[text]
		case err != nil || p.Kind == param.Text || p.Kind == param.Choice:
			text = strconv.Quote(text)
		}
		fmt.Fprintf(&b, "%q: %s", p.Name, text)
	}
	fmt.Fprintf(&b, "}\nagain = lab.fit(%q, **spec)  # the same points\n", "run-"+run.ID)
	return b.String()
}

// sklearnCode returns Python code that trains the same machine with scikit-learn, empty if
// scikit-learn lacks it.
func sklearnCode(run store.Run) string {
	s, m := run.Spec, run.Model
	if s.Learner != "svm" || s.Conformal != "none" || s.Project != "none" || m.Fill != nil || s.Values.Switch("hard_margin") ||
		m.Rule == ml.Argmax || !slices.Contains([]string{"linear", "poly", "rbf", "sigmoid", "laplacian"}, s.Kernel) {
		return ""
	}
	var b strings.Builder
	quote := strconv.Quote
	imports := []string{"import csv", "", "from sklearn.pipeline import make_pipeline"}
	machine := "SVC(kernel=" + quote(s.Kernel)
	for _, p := range []string{"gamma", "coef0", "degree"} {
		if !s.Applies(p) || s.Kernel == "laplacian" {
			continue
		}
		if text := s.Text(p); text == "auto" || text == "scale" {
			machine += ", " + p + "=" + quote(text)
		} else {
			machine += ", " + p + "=" + text
		}
	}
	if s.Kernel == "laplacian" {
		imports = append(imports, "from sklearn.metrics.pairwise import laplacian_kernel")
		gamma := strconv.FormatFloat(m.Kernel.Values.Number("gamma"), 'g', -1, 64)
		machine = "SVC(kernel=lambda X, Z: laplacian_kernel(X, Z, gamma=" + gamma + ")"
	}
	machine += ", C=" + s.Text("C") + ", tol=" + s.Text("tol") + ")"
	if m.Rule == ml.OneVsRest {
		imports = append(imports, "from sklearn.multiclass import OneVsRestClassifier")
		machine = "OneVsRestClassifier(" + machine + ")"
	}
	if m.Scaler != nil {
		imports = append(imports, "from sklearn.preprocessing import StandardScaler")
		machine = "StandardScaler(), " + machine
	}
	imports = append(imports, "from sklearn.svm import SVC")
	slices.Sort(imports[2:])
	fmt.Fprintf(&b, "%s\n\n", strings.Join(imports, "\n"))
	fmt.Fprintf(&b, "rows = list(csv.DictReader(open(%s, encoding=\"utf-8-sig\")))\n", quote(results.CSVName(run.DatasetName)))
	names := lists.Map(m.Features, quote)
	fmt.Fprintf(&b, "X = [[float(row[name]) for name in [%s]] for row in rows]\ny = [row[%s] for row in rows]\n", strings.Join(names, ", "), quote(m.Label))
	if positive := s.Positive; positive != "" {
		fmt.Fprintf(&b, "y = [label == %s for label in y]\n", quote(positive))
	}
	fmt.Fprintf(&b, "model = make_pipeline(%s)\n", machine)
	if s.TestFraction > 0 {
		fraction := strconv.FormatFloat(s.TestFraction, 'g', -1, 64)
		return strings.Replace(b.String(), "from sklearn.pipeline", "from sklearn.model_selection import train_test_split\nfrom sklearn.pipeline", 1) +
			"# The rows held out differ: scikit-learn draws its own.\n" +
			"X, X_test, y, y_test = train_test_split(X, y, test_size=" + fraction + ", stratify=y, random_state=" + strconv.FormatUint(s.Seed, 10) + ")\n" +
			"model.fit(X, y)\nprint(model.score(X, y), model.score(X_test, y_test))\n"
	}
	return b.String() + "model.fit(X, y)\nprint(model.score(X, y))\n"
}
