//go:build peers

package export

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// Besides Python with NumPy and svm-predict, these tests need scikit-learn, for its data sets,
// and the node_modules folder of onnxruntime-web or onnxruntime-node in MARGINLAB_ONNXRUNTIME.

// compareONNX evaluates the graphs with ONNX Runtime, at inputs in single precision.
func compareONNX(t *testing.T, all []trained) {
	modules := os.Getenv("MARGINLAB_ONNXRUNTIME")
	if modules == "" {
		t.Skip("MARGINLAB_ONNXRUNTIME names no folder node_modules with ONNX Runtime")
	}
	dir := t.TempDir()
	for first := 0; first < len(all); first += 8 { // limits memory
		var questions []asked
		for i, m := range all[first:min(first+8, len(all))] {
			x := mat.DenseCopyOf(m.x)
			x.Apply(func(_, _ int, v float64) float64 { return float64(float32(v)) }, x)
			m.x = x
			questions = append(questions, m.asked(write(t, dir, "onnx", i, m.model)))
		}
		var text bytes.Buffer
		require.NoError(t, json.NewEncoder(&text).Encode(questions))
		cmd := exec.Command("node", "-e", `
const path = process.env.MARGINLAB_ONNXRUNTIME + '/';
let ort;
try { ort = require(path + 'onnxruntime-node'); } catch { ort = require(path + 'onnxruntime-web'); ort.env.wasm.numThreads = 1; }
const fs = require('fs');
(async () => {
  for (const a of JSON.parse(fs.readFileSync(0))) {
    const session = await ort.InferenceSession.create(fs.readFileSync(a.File), {logSeverityLevel: 3});
    let worst = 0, wrong = 0, size = Math.max(1, a.Size * 1e-6);
    const block = 64;
    for (let first = 0; first < a.X.length; first += block) {
      const X = a.X.slice(first, first + block), d = X[0].length, k = a.F[0].length;
      const flat = Float32Array.from(X.flat().map(v => v === null ? NaN : v));
      const out = await session.run({X: new ort.Tensor('float32', flat, [X.length, d])});
      if (out.f.dims[0] !== X.length || out.f.dims[1] !== k) console.log(a.Name, 'f has the shape', out.f.dims);
      for (let i = 0; i < X.length; i++) {
        const want = a.F[first + i];
        for (let c = 0; c < k; c++) {
          size = Math.max(size, Math.abs(want[c]));
          worst = Math.max(worst, Math.abs(out.f.data[i * k + c] - want[c]));
        }
        if (a.Labels === null) continue;
        const label = String(out.label.data[i]), plain = a.Labels[first + i];
        if (label !== plain && Number(label) !== Number(plain)) {
          if (!want.some(v => Math.abs(v) < 1e-6 * size)) wrong++;
        }
      }
    }
    if (!(worst <= 1e-6 * size)) console.log(a.Name, 'f differs by', worst, 'of', size);
    if (wrong) console.log(a.Name, 'labels differ:', wrong);
    await session.release();
  }
})();
`)
		cmd.Stdin = &text
		out, err := cmd.CombinedOutput()
		require.Check(t, err == nil && len(out) == 0, "%v\n%s", err, out)
	}
}

func TestONNXSaysTheSame(t *testing.T) { compareONNX(t, everyday(t)) }

func known(t *testing.T) map[string]*dataset.Data {
	dir := t.TempDir()
	out, err := exec.Command("/usr/bin/python3", "-c", `
import sys, sklearn.datasets as s
for name in ["iris", "wine", "breast_cancer", "digits"]:
    d = getattr(s, "load_" + name)()
    with open(sys.argv[1] + "/" + name + ".csv", "w") as f:
        print(",".join([f"c{j}" for j in range(d.data.shape[1])] + ["class"]), file=f)
        for x, y in zip(d.data, d.target):
            print(",".join([repr(float(v)) for v in x] + [str(d.target_names[y])]), file=f)
`, dir).CombinedOutput()
	if err != nil {
		t.Skipf("there is no scikit-learn: %v\n%s", err, out)
	}
	sets := map[string]*dataset.Data{}
	for _, name := range []string{"iris", "wine", "breast_cancer", "digits"} {
		f := require.Value(os.Open(filepath.Join(dir, name+".csv")))(t)
		d := require.Value(dataset.Read(f, name, dataset.Mapping{Label: "class"}, dataset.Limits{}))(t)
		f.Close()
		sets[name] = d
	}
	return sets
}

func TestKnownData(t *testing.T) {
	for name, d := range known(t) {
		var all []trained
		add := func(what string, d *dataset.Data, settings ...string) {
			all = append(all, train(t, name+" "+what, d, settings...))
		}
		labels := [][]string{d.Classes}
		if len(d.Classes) == 2 {
			labels = append(labels, []string{"0", "1"}, []string{"1", "0"}, []string{"-1", "1"}, []string{"1", "-1"})
		}
		for _, classes := range labels {
			for _, k := range [][]string{{"kernel", "linear"}, {"kernel", "poly", "coef0", "1"}, {"kernel", "rbf"}, {"kernel", "sigmoid", "gamma", "0.01"}, {"kernel", "laplacian"}} {
				for _, rule := range []string{"ovo", "ovr"} {
					add(k[1]+" "+rule, relabelled(d, classes...), slices.Concat(k, []string{"multiclass", rule})...)
				}
			}
		}
		if len(d.Classes) > 2 {
			add("ww", d, "multiclass", "ww")
			add("cs", d, "multiclass", "cs")
		}
		if name != "digits" {
			add("conformal", d, "conformal", "eigen")
			add("mcm", d, "learner", "mcm")
		}
		t.Run(name+" python", func(t *testing.T) { comparePython(t, all) })
		t.Run(name+" libsvm", func(t *testing.T) { compareLIBSVM(t, all) })
		t.Run(name+" onnx", func(t *testing.T) { compareONNX(t, all) })
	}
}
