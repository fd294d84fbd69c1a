package cmdline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestGraphs goes through fit, predict and cv with graphs.
func TestGraphs(t *testing.T) {
	t.Parallel()
	var labelled, bare strings.Builder
	for i := range 12 {
		n := 4 + i/2
		var edges []string
		for v := range n - 1 {
			edges = append(edges, fmt.Sprintf("[%d,%d]", v, v+1))
		}
		class := "path"
		if i%2 == 1 {
			class = "ring"
			edges = append(edges, fmt.Sprintf("[%d,0]", n-1))
		}
		g := fmt.Sprintf(`"n":%d,"edges":[%s]`, n, strings.Join(edges, ","))
		fmt.Fprintf(&labelled, "{%s,\"class\":%q}\n", g, class)
		fmt.Fprintf(&bare, "{%s}\n", g)
	}
	data, alone := file(t, "rings.jsonl", labelled.String()), file(t, "some.jsonl", bare.String())
	model := filepath.Join(t.TempDir(), "m.json")
	out := must(t, "fit", "--kernel", "wl", "--rounds", "2", "--normalize", "--C", "100", "--data", data, "--out", model)
	require.Check(t, strings.Contains(out, "wl"), "%v", out)
	for _, in := range []string{data, alone} {
		head, rows := predictions(t, must(t, "predict", "--model", model, "--data", in))
		if len(rows) != 12 || rows[0][1] != "path" || rows[11][1] != "ring" || (len(head) == 4) != (in == data) {
			t.Errorf("%s: %v %v", in, head, rows)
		}
	}
	out = must(t, "cv", "--kernel", "random-walk", "--walk-weight", "0.01,0.1", "--normalize", "--folds", "3", "--data", data)
	require.Check(t, strings.Count(out, "converged") == 2, "%v", out)
	if o := run(t.Context(), "", "fit", "--kernel", "random-walk", "--walk-weight", "0.3", "--data", data); o.code != 1 || !strings.Contains(o.err, "diverges for ") || strings.Count(o.err, "\n") != 1 {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	o := run(t.Context(), "", "fit", "--data", data)
	require.Check(t, o.code == 1 && strings.Contains(o.err, "use wl, random-walk"), "exit %d: %s", o.code, o.err)
}

func TestGramOfGraphs(t *testing.T) {
	t.Parallel()
	text := `{"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"]}` + "\n" + `{"n":3,"edges":[[0,1],[1,2],[2,0]],"labels":["O","O","O"]}` + "\n"
	for _, c := range []struct {
		args string
		want string
	}{
		{"gram --kernel wl --iterations 0 F --csv", "5,3\n3,9\n"},
		{"gram --kernel wl --iterations 1 F --csv", "8,3\n3,18\n"},
		{"gram --kernel wl --rounds 1 F --csv --normalize", "1,0.25\n0.25,1\n"},
		{"gram F --kernel random-walk --lambda 0.125 --labelled --csv", "5.8986175115207375,3\n3,18\n"},
		{"gram --kernel random-walk --walk-weight 0.125 --csv F", "11.733333333333334,13.714285714285714\n13.714285714285714,18\n"},
	} {
		in := file(t, "graphs", text)
		out := must(t, strings.Fields(strings.ReplaceAll(c.args, " F", " "+in))...)
		require.Equal(t, out, c.want, "%s", c.args)
	}
	for _, c := range []struct {
		text, args string
		code       int
		says       string
	}{
		{text, "gram --kernel wl --lambda 0.1 F", 2, "--lambda has no effect with --kernel=wl"},
		{text, "gram --kernel random-walk --iterations 2 F", 2, "--iterations has no effect with --kernel=random-walk"},
		{text, "gram --kernel wl --iterations -1 F", 2, "--iterations must be a whole number"},
		{text, "gram --kernel random-walk --lambda 0 F", 2, "--lambda must be a number above 0"},
		{text, "gram --kernel random-walk --lambda 0.25 --csv F", 1, "row 2 with itself is 4, and 0.25 times that is not below 1"},
		{text + `{"n":2,"edges":[[0,2]]}`, "gram --kernel wl F", 1, "line 3: edge [0,2]: there is no node 2"},
		{"cat\n", "gram --kernel wl F", 1, "expected"},
		{"", "gram --kernel wl F", 1, "found an empty file"},
	} {
		in := file(t, "graphs", c.text)
		o := run(t.Context(), "", strings.Fields(strings.ReplaceAll(c.args, " F", " "+in))...)
		if o.code != c.code || !strings.Contains(o.err, c.says) || strings.Count(o.err, "\n") != 1 || o.out != "" {
			t.Errorf("%s: exit %d: %s%s", c.args, o.code, o.out, o.err)
		}
	}
}
