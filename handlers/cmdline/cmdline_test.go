package cmdline_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/handlers/cmdline"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// outcome holds the output and exit status of a command.
type outcome struct {
	code     int
	out, err string
}

func run(ctx context.Context, stdin string, args ...string) outcome {
	var out, errs bytes.Buffer
	code := cmdline.Run(ctx, cmdline.Commands, args, cmdline.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return outcome{code, out.String(), errs.String()}
}

// must is the standard output of a command that has to succeed without a word.
func must(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t.Context(), "", args...)
	require.Must(t, o.code == 0 && o.err == "", "%q exits with %d: %s", args, o.code, o.err)
	return o.out
}

// fails runs a command that must exit with a status, say words in one line and print nothing.
func fails(t *testing.T, code int, words string, args ...string) {
	t.Helper()
	o := run(t.Context(), "", args...)
	require.Check(t, o.code == code && o.out == "" && strings.Count(o.err, "\n") == 1 && strings.Contains(o.err, words),
		"%q: exit %d: %s%s, want %d and %q", args, o.code, o.out, o.err, code, words)
}

const points = `x1,x2,kind
-2,-1,no
-1,-1,no
-1,-2,no
1,1,yes
1,2,yes
2,1,yes
`

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--version", "-version", "version"} {
		if out := must(t, arg); !strings.HasPrefix(out, "marginlab ") || !strings.Contains(out, "commit ") || !strings.Contains(out, runtime.Version()) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %s", arg, out)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"fit", "--help"}, {"fit", "-h"}, {"help", "fit"}, {"fit", "--data", "nowhere", "-help"}} {
		text := must(t, args...)
		for _, g := range ml.Groups {
			require.Check(t, strings.Contains(text, "\n"+g.Title+"\n"), "%q: no heading %q", args, g.Title)
		}
		words := strings.Join(strings.Fields(text), " ")
		for _, p := range ml.Params {
			require.Check(t, strings.Contains(words, "--"+p.Flag()) && strings.Contains(words, strings.Join(strings.Fields(p.Help), " ")),
				"%q: nothing about %s", args, p.Name)
			for _, o := range p.Options {
				require.Says(t, words, o.Name+": "+o.Help, "%q: nothing about %s %s", args, p.Name, o.Name)
			}
		}
		for line := range strings.Lines(text) {
			require.Check(t, len([]rune(line)) <= 100, "long line %q", line)
		}
	}
	require.Says(t, must(t, "predict", "--help"), "--model FILE", "help of predict")
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"help", "--help"}} {
		text := must(t, args...)
		for _, c := range cmdline.Commands {
			require.Check(t, strings.Contains(text, c.Name) && strings.Contains(text, c.Summary),
				"%q: nothing about %s", args, c.Name)
		}
	}
}

func TestWithoutACommandTheFirstRuns(t *testing.T) {
	t.Parallel()
	var got []string
	table := []cmdline.Command{{Name: "serve", Run: func(_ context.Context, args []string, _ cmdline.Streams) error {
		got = append(got, fmt.Sprint(args))
		return nil
	}}}
	for _, args := range [][]string{nil, {"--addr", ":0"}, {"serve", "--addr", ":0"}} {
		code := cmdline.Run(t.Context(), table, args, cmdline.Streams{Out: io.Discard, Err: io.Discard})
		require.Equal(t, code, 0, "exit code of %q", args)
	}
	require.Equal(t, cmp.Diff([]string{"[]", "[--addr :0]", "[--addr :0]"}, got), "", "diff")
}

// keys are the names in a JSON object.
func keys(t *testing.T, text string) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(require.JSON[map[string]any](t, text, "%s", text)))
}

// printed reads what a command prints with --json, which has to succeed without a word.
func printed[V any](t *testing.T, args ...string) V {
	t.Helper()
	text := must(t, append(args, "--json")...)
	return require.JSON[V](t, text, "%s", text)
}

func TestFitIsTheTrainingOfTheLibrary(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 60, 0.3, 2))(t)
	path := require.File(t, "moons.csv", require.Written(t, d.Encode))
	for _, args := range []string{
		"",
		"--learner mcm --rho 0.01 --C 3",
		"--kernel poly --degree 2 --coef0 1 --gamma scale --tol 1e-6",
		"--conformal gradient --core-gamma 2 --core-step 5 --standardize=false",
		"--test-fraction 0.3 --seed 9 --positive -1 --max-iter 5000",
	} {
		s := ml.DefaultSpec()
		fields := strings.Fields(args)
		for i := 0; i < len(fields); i++ {
			name, value, ok := strings.Cut(strings.TrimPrefix(fields[i], "--"), "=")
			if !ok {
				i++
				value = fields[i]
			}
			require.NoError(t, s.Set(strings.ReplaceAll(name, "-", "_"), value))
		}
		res := require.Value(ml.Train(t.Context(), d, s, nil))(t)
		got := printed[ml.Report](t, append([]string{"fit", "--data", path}, fields...)...)
		got.FitSeconds, res.Report.FitSeconds = 0, 0
		require.Equal(t, cmp.Diff(res.Report, got), "", "fit %s", args)
	}
}

// TestOnlyMemoryLimits reads a file that is wider and longer than a server takes.
func TestOnlyMemoryLimits(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	for i := range 4 {
		for j := range 300 {
			fmt.Fprintf(&wide, "%d,", i*j)
		}
		fmt.Fprintf(&wide, "%c\n", 'A'+i%2)
	}
	for name, text := range map[string]string{"wide": wide.String(), "long": strings.Repeat("1,A\n2,B\n", 60_000)} {
		o := run(t.Context(), text, "fit", "--data", "-", "--max-iter", "1", "--json")
		require.Check(t, o.code == 0, "%s: %d, %s", name, o.code, o.err)
	}
}

func TestTableNamesEveryNumber(t *testing.T) {
	t.Parallel()
	data := require.File(t, "points.csv", points)
	for _, args := range []string{"", "--learner mcm --rho 0.1", "--conformal eigen --kernel linear", "--kernel linear --test-fraction 0.34"} {
		fields := append([]string{"fit", "--data", data}, strings.Fields(args)...)
		var printed []string
		for line := range strings.Lines(must(t, fields...)) {
			if line != "\n" && line[0] != ' ' { // the lines of a confusion matrix stand in
				printed = append(printed, strings.Fields(line)[0])
			}
		}
		slices.Sort(printed)
		require.Equal(t, cmp.Diff(keys(t, must(t, append(fields, "--json")...)), printed), "", "fit %s", args)
	}
}

// predictions reads what predict writes.
func predictions(t *testing.T, text string) (head []string, rows [][]string) {
	t.Helper()
	all := require.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	return all[0], all[1:]
}

func TestPredictIsTheModel(t *testing.T) {
	t.Parallel()
	data := require.File(t, "points.csv", points)
	d := require.Value(dataset.Read(strings.NewReader(points), "points.csv", dataset.Mapping{}, dataset.DefaultLimits))(t)
	for _, args := range []string{"", "--learner mcm --kernel poly", "--learner ridge --lambda 0.1", "--conformal eigen", "--project pca", "--features x2"} {
		dir := t.TempDir()
		model, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.csv")
		must(t, append([]string{"fit", "--data", data, "--out", model}, strings.Fields(args)...)...)
		text := must(t, "predict", "--model", model, "--data", data, "--out", out)
		require.Check(t, text == "accuracy  1  of 6 rows\n", "output %q beside the file", text)
		written := require.Value(os.ReadFile(out))(t)
		text = must(t, "predict", "--model", model, "--data", data)
		require.Check(t, text == string(written), "the file has %s, standard output %s", written, text)
		f := require.Value(os.Open(model))(t)
		defer f.Close()
		m := require.Value(ml.ReadModel(f))(t)
		cols := require.Value(d.Columns(m.Features))(t)
		head, rows := predictions(t, string(written))
		require.Equal(t, cmp.Diff([]string{"row", "label", "f", "true"}, head), "", "diff")
		require.Must(t, len(rows) == 6, "%d rows", len(rows))
		for i, want := range m.Decisions(cols.X) {
			got, err := strconv.ParseFloat(rows[i][2], 64)
			require.Check(t, err == nil && math.Float64bits(got) == math.Float64bits(want),
				"row %d: f = %s, want %v", i, rows[i][2], want)
			require.Check(t, rows[i][0] == strconv.Itoa(i+1) && rows[i][1] == m.LabelOf(want) && rows[i][3] == d.Classes[d.Y[i]],
				"row %d: %q", i, rows[i])
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "m.json")
	o := run(mltest.Ended(), "", "fit", "--data", require.File(t, "points.csv", points), "--out", out)
	require.Check(t, o.code == 1 && strings.Contains(o.err, "interrupted") && strings.Count(o.err, "\n") == 1,
		"exit %d: %s", o.code, o.err)
	_, err := os.Stat(out)
	require.Check(t, err != nil, "a model was saved")

	// Standard input that never ends does not hold the program up.
	never, end := io.Pipe()
	defer end.Close()
	var errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = end.Write([]byte("x1,"))
		cancel()
	}()
	code := cmdline.Run(ctx, cmdline.Commands, []string{"fit", "--data", "-"}, cmdline.Streams{In: never, Out: io.Discard, Err: &errs})
	require.Check(t, code == 1, "exit %d: %s", code, &errs)
}

// expiring is a context that is cancelled when it is looked at for the k-th time.
type expiring struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (e *expiring) look() {
	if e.left.Add(-1) == 0 {
		e.cancel()
	}
}

func (e *expiring) Err() error            { e.look(); return e.Context.Err() }
func (e *expiring) Done() <-chan struct{} { e.look(); return e.Context.Done() }

func TestInterruptedTrainingIsReported(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("checkerboard", 300, 0.3, 1))(t)
	data, out := require.File(t, "board.csv", require.Written(t, d.Encode)), filepath.Join(t.TempDir(), "m.json")
	cancelled, early := 0, 0
	for k := range int64(8) {
		ctx := &expiring{}
		ctx.Context, ctx.cancel = context.WithCancel(t.Context())
		ctx.left.Store(k + 1)
		o := run(ctx, "", "fit", "--data", data, "--C", "1000", "--json", "--out", out)
		if o.code == 0 {
			break // the training ended before it looked so often
		}
		require.Check(t, o.code == 1 && strings.Contains(o.err, "interrupted") && strings.Count(o.err, "\n") == 1,
			"interrupted at look %d: exit %d: %s", k+1, o.code, o.err)
		_, err := os.Stat(out)
		require.Check(t, err != nil, "interrupted at look %d: a model was saved", k+1)
		if strings.Contains(o.out, `"status":"cancelled"`) {
			cancelled++
			ks := keys(t, o.out)
			// Without a step there is nothing measured, not even a zero.
			if !slices.Contains(ks, "iterations") {
				early++
				want := strings.Fields("classes d kernel learner n positive status")
				require.Check(t, cmp.Equal(ks, want), "interrupted at look %d: %s", k+1, o.out)
			} else if !slices.Contains(ks, "objective") || strings.Contains(o.out, `"iterations":0,`) {
				t.Errorf("interrupted at look %d: %s", k+1, o.out)
			}
		}
	}
	require.Check(t, early != 0, "no training was interrupted before its first step")

	_, values, _, _ := gram(t, d, 60) // objects without features have no d
	early = 0
	for k := range int64(8) {
		ctx := &expiring{}
		ctx.Context, ctx.cancel = context.WithCancel(t.Context())
		ctx.left.Store(k + 1)
		o := run(ctx, "", "fit", "--data", values, "--kernel", "precomputed", "--json")
		if o.code != 0 && strings.Contains(o.out, `{"n":60,"classes":`) {
			early++
		}
	}
	require.Check(t, early != 0, "no training on values of a kernel was interrupted before its first step")
	require.Check(t, cancelled != 0, "status cancelled was never reported")
}

func TestFilesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	data := require.File(t, "points.csv", points)
	dir := t.TempDir()
	out := filepath.Join(dir, "m.json")
	require.NoError(t, os.WriteFile(out, []byte("before"), 0o600))
	link := filepath.Join(dir, "link.json")
	require.NoError(t, os.Symlink("m.json", link))
	must(t, "fit", "--data", data, "--out", link, "--plot", filepath.Join(dir, "p.svg"))
	text, err := os.ReadFile(out)
	require.Check(t, err == nil && json.Valid(text), "%s, %v", text, err)
	info, err := os.Lstat(link)
	require.Check(t, err == nil && info.Mode()&os.ModeSymlink != 0, "the link is gone: %v, %v", info, err)
	names := lists.Map(require.Value(os.ReadDir(dir))(t), func(e os.DirEntry) string { return e.Name() })
	require.Equal(t, cmp.Diff([]string{"link.json", "m.json", "p.svg"}, names), "", "files left behind")
	must(t, "fit", "--data", data, "--out", os.DevNull)
	info, err = os.Stat(os.DevNull)
	require.Check(t, err == nil && !info.Mode().IsRegular(), "%s became a file", os.DevNull)
}

// A model of several machines gives the label that its rule chooses and a column of
// scores for each machine; one whose rule is value has no label.
func TestPredictWithSeveralMachines(t *testing.T) {
	t.Parallel()
	data := require.File(t, "new.csv", "x1,x2,label\n2,0,ash\n-1,1.7,beech\n-1,-1.7,beech\n")
	for rule, names := range map[string]string{"ovr": "f ash|f beech|f elm", "ovo": "f beech vs ash|f elm vs ash|f elm vs beech"} {
		model := "../../ml/testdata/model_format2_" + rule + ".json"
		head, rows := predictions(t, must(t, "predict", "--model", model, "--data", data))
		require.Equal(t, strings.Join(head, "|"), "row|label|"+names+"|true", "%s: columns", rule)
		f := require.Value(os.Open(model))(t)
		defer f.Close()
		want := require.Value(ml.ReadModel(f))(t).Scores(mat.NewDense(3, 2, []float64{2, 0, -1, 1.7, -1, -1.7}))
		for i, r := range rows {
			require.Check(t, r[1] == []string{"ash", "beech", "elm"}[i] && r[5] == []string{"ash", "beech", "beech"}[i],
				"%s: row %d: %q", rule, i, r)
			for k, v := range want.RawRowView(i) {
				require.Check(t, r[2+k] == strconv.FormatFloat(v, 'g', -1, 64),
					"%s: row %d: %s = %s, want %v", rule, i, head[2+k], r[2+k], v)
			}
		}
	}
	value := require.File(t, "value.json", `{"format":2,"features":["x1"],"label":"y","classes":[],"objects":"vectors","kernel":{"name":"linear"},"supports":{"rows":[0],"vectors":[[2]]},"machines":[{"coef":[0.5],"b":1}],"rule":"value"}`)
	got := must(t, "predict", "--model", value, "--data", require.File(t, "one.csv", "x1\n3\n-1\n"))
	require.Check(t, got == "row,f\n1,4\n2,0\n", "a regression predicts %q", got)
	newer := require.File(t, "newer.json", fmt.Sprintf(`{"format":%d}`, ml.Format+1))
	fails(t, 1, "a later one", "predict", "--model", newer, "--data", data)
}
