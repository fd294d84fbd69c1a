package cmdline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, model := file(t, "points.csv", points), filepath.Join(dir, "m.json")
	must(t, "fit", "--data", data, "--out", model)
	for format, want := range map[string]string{"python": "def predict(X):", "onnx": "SVMClassifier", "libsvm": "svm_type c_svc"} {
		out := filepath.Join(dir, "m."+format)
		o := run(t.Context(), "", "export", "--model", model, "--format", format, "--out", out)
		require.Check(t, o.code == 0, "%s: %s", format, o.err)
		text, err := os.ReadFile(out)
		require.Check(t, err == nil && strings.Contains(string(text), want), "%s: %v, %.100s", format, err, text)
		if format == "python" && must(t, "export", "--model", model, "--format", format, "--out", "-") != string(text) {
			t.Error("standard output has something else than the file")
		}
	}
	out := filepath.Join(dir, "scaled")
	o := run(t.Context(), "", "export", "--model", model, "--format", "libsvm", "--data", data, "--out", out)
	if o.code != 0 || o.err != "marginlab export: note: LIBSVM has numbers for classes: 0 is no, 1 is yes\n" {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	m := require.Value(os.Open(model))(t)
	defer m.Close()
	trained := require.Value(ml.ReadModel(m))(t)
	rows, err := os.ReadFile(out + ".data")
	lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
	if err != nil || len(lines) != 6 || !strings.HasPrefix(lines[0], "0 1:-") || !strings.HasPrefix(lines[3], "1 1:") {
		t.Errorf("%v, rows %q of a model with the scaler %v", err, lines, trained.Scaler)
	}
}

// What a format cannot say is refused with one that can, and nothing is written.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	data := file(t, "three.csv", "x,y,k\n1,2,a\n2,1,b\n3,3,c\n1,1,a\n2,2,b\n4,3,c\n")
	for args, want := range map[string]string{
		"--kernel laplacian":                      "no kernel laplacian; use ONNX or Python",
		"--conformal eigen --positive a":          "no conformal kernels; use ONNX or Python",
		"--multiclass ww":                         "no models of the rule argmax",
		"--multiclass ovr":                        "no models of the rule ovr",
		"--kernel combined --expression=2*linear": "no kernel combined",
	} {
		dir := t.TempDir()
		model, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "m.libsvm")
		must(t, append([]string{"fit", "--data", data, "--out", model}, strings.Fields(args)...)...)
		o := run(t.Context(), "", "export", "--model", model, "--format", "libsvm", "--out", out)
		require.Check(t, o.code == 1 && strings.Contains(o.err, want), "%s: exit %d: %s", args, o.code, o.err)
		_, err := os.Stat(out)
		require.Check(t, err != nil, "%s: a file was written", args)
		must(t, "export", "--model", model, "--format", "python", "--out", out)
	}
	for args, want := range map[string]string{
		"--format onnx":                            "--model is missing",
		"--model m --out o":                        "--format is missing",
		"--model m --format pmml --out o":          "python, onnx, libsvm",
		"--model m --format onnx --data d --out o": "--data goes with --format libsvm",
		"--model m --format libsvm --out m":        "cannot be overwritten",
	} {
		o := run(t.Context(), "", append([]string{"export"}, strings.Fields(args)...)...)
		require.Check(t, o.code == 2 && strings.Contains(o.err, want), "%s: exit %d: %s", args, o.code, o.err)
	}
}

func TestPredictJSON(t *testing.T) {
	t.Parallel()
	data, model := file(t, "points.csv", points), filepath.Join(t.TempDir(), "m.json")
	must(t, "fit", "--data", data, "--out", model)
	var raw struct {
		Predictions []struct {
			Row   int
			Label string
			F     float64
			True  string
		}
		Accuracy float64
		Positive string
	}
	text := must(t, "predict", "--model", model, "--data", data, "--json")
	err := json.Unmarshal([]byte(text), &raw)
	require.Must(t, err == nil, "%v: %s", err, text)
	require.Check(t, len(raw.Predictions) == 6 && raw.Accuracy == 1 && raw.Positive == "yes", "%s", text)
	for i, p := range raw.Predictions {
		require.Check(t, p.Row == i+1 && p.Label == p.True && (p.F >= 0) == (p.Label == "yes"), "row %d: %+v", i, p)
	}
}
