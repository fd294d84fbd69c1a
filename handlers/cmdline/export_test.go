package cmdline_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"marginlab/ml/mltest/require"
)

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
