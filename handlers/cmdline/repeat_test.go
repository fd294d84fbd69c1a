package cmdline

import (
	"encoding/json"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/repeat"
)

// repeat tells for each number whether it agrees, and fails where one does not, where there is none,
// or where the data are others. What fails leaves the other tasks their lines.
func TestRepeat(t *testing.T) {
	t.Parallel()
	g := require.Value(dataset.FindGenerator("moons"))(t)
	d := require.Value(g.Generate(nil))(t)
	res := require.Value(ml.Train(t.Context(), d, ml.DefaultSpec(), nil))(t)
	spec := require.Value(json.Marshal(ml.DefaultSpec()))(t)
	points := require.Written(t, d.Encode)
	write := func(change func(*repeat.File)) string {
		f := repeat.File{Format: 1, Title: "t", Tasks: []repeat.Task{{Title: "run", Points: d.Hash(), Spec: spec, Numbers: repeat.OfRun(&res.Report)}}, Points: map[string]string{d.Hash(): points}}
		change(&f)
		text := require.Value(json.Marshal(f))(t)
		path := require.File(t, "report.json", string(text))
		return path
	}
	broken := func(f *repeat.File) {
		bad := f.Tasks[0]
		bad.Title, bad.Spec = "broken", json.RawMessage("1")
		f.Tasks = []repeat.Task{bad, f.Tasks[0]}
	}
	for _, tc := range []struct {
		change func(*repeat.File)
		code   int
		says   string
	}{
		{func(*repeat.File) {}, exitDone, "numbers agree."},
		{func(f *repeat.File) { f.Tasks = nil }, exitFailed, "report.json: the report has no numbers to repeat"},
		{func(f *repeat.File) { f.Tasks[0].Numbers = nil }, exitFailed, "no numbers to repeat"},
		{broken, exitFailed, "  agrees\n"},
		{broken, exitFailed, "broken: "},
		{func(f *repeat.File) { f.Tasks[0].Numbers[0].Value = 7 }, exitFailed, "1 of "},
		{func(f *repeat.File) { f.Points[d.Hash()] += " " }, exitFailed, "were changed"},
		{func(f *repeat.File) { f.Format = 2 }, exitFailed, "newer version"},
	} {
		var out, errs strings.Builder
		code := Run(t.Context(), Commands, []string{"repeat", write(tc.change)}, Streams{Out: &out, Err: &errs})
		text := out.String() + errs.String()
		require.Check(t, code == tc.code && strings.Contains(text, tc.says), "exit code %d, want %d and %q: %s", code, tc.code, tc.says, text)
	}
}
