package store

import (
	"strings"
	"testing"

	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
)

// A finished search adds its evidence to the runs with its best setting, whatever fraction they
// hold out, and to no others; lists sort and filter by it, and archives keep it.
func TestRunsKeepEvidence(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	n := asked(t)
	n.Scheme.Nested = true
	search := require.Value(s.CreateSearch(ctx, "w", n))(t)
	s.work(t, "me", 1000)
	search = require.Value(s.Search(ctx, "w", search.ID))(t)
	res := search.Result
	best := eval.OfSetting(search.Spec, res.Settings[res.Best].Values)
	saved := require.Value(s.CreateRun(ctx, "w", NewRun{Data: n.Data, Spec: best, Search: search.ID, Evidence: eval.EvidenceOf(search.ID, search.Scheme, res, res.Best)}))(t)
	held, other := best, best
	held.TestFraction = 0.3
	require.NoError(t, other.Set("C", "77"))
	same := require.Value(s.CreateRun(ctx, "w", NewRun{Data: n.Data, Spec: held}))(t)
	none := require.Value(s.CreateRun(ctx, "w", NewRun{Data: n.Data, Spec: other}))(t)
	elsewhere := require.Value(s.CreateRun(ctx, "v", NewRun{Data: n.Data, Spec: best}))(t)

	// 4 folds of this one setting.
	require.Value(s.CreateSearch(ctx, "w", NewSearch{Data: n.Data, Spec: held, Scheme: eval.Scheme{Folds: 4, Repeats: 1}}))(t)
	s.work(t, "me", 1000)
	folds := func(ws Workspace, id string) (names []string) {
		t.Helper()
		for _, e := range require.Value(s.Run(ctx, ws, id))(t).Evidence {
			name := string(rune('0' + e.Scheme.Folds))
			if e.Scheme.Nested {
				name += "n"
			}
			if e.Optimistic {
				name += "o"
			}
			names = append(names, name)
		}
		return names
	}
	for _, c := range []struct {
		ws       Workspace
		id, want string
	}{{"w", saved.ID, "3n 4 3o"}, {"w", same.ID, "4"}, {"w", none.ID, ""}, {"v", elsewhere.ID, ""}} {
		require.Equal(t, strings.Join(folds(c.ws, c.id), " "), c.want, "evidence")
	}
	run := require.Value(s.Run(ctx, "w", saved.ID))(t)
	if v, in, ok := run.estimate(); !ok || v != res.Nested.Accuracy || in == nil || run.EvidenceKind() != FromNested {
		t.Errorf("%v %v %v %s", v, in, ok, run.EvidenceKind())
	}
	for where, want := range map[string]int{`evidence = "nested cross-validation"`: 1, `evidence = cross-validation`: 1, "estimate >= 0": 2, "estimate = none": 1, "estimate_low <= 1 and estimate_high >= 0": 2} {
		_, total, err := s.Runs(ctx, "w", Filter{Where: require.Value(ParseQuery(where))(t), Limit: 10})
		require.Check(t, err == nil && total == want, "%s finds %d, %v, want %d", where, total, err, want)
	}
	for _, name := range []string{"estimate", "estimate_low", "estimate_high", "evidence"} {
		f, _ := LookupField(name)
		var v any
		require.NoError(t, s.read.QueryRow(`SELECT `+f.expr+` FROM runs WHERE id = ?`, saved.ID).Scan(&v))
		require.Equal(t, f.Value(run), v, "%s, here and in SQL", name)
	}
}
