package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// TestQueryErrorsPointAtThePlace: the caret marks the first error.
func TestQueryErrorsPointAtThePlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, caret, says string }{
		{`gama > 1`, `^`, "did you mean gamma?"},
		{`C > one`, `    ^`, `expected a number after >, not "one"`},
		{`C >`, `   ^`, "expected a number after >, not the end"},
		{`C > 1 and accuracy >= 90`, `                      ^`, "Test accuracy is at most 1: write 90%"},
		{`C > 1 kernel = rbf`, `      ^`, "expected and, or, or the end"},
		{`two moons`, `    ^`, `in quotes, "two moons"`},
		{`accuracy 0.9`, `         ^`, "expected =, !=, <"},
		{`kernel = rfb`, `         ^`, "did you mean rbf?"},
		{`kernel = "no"`, `         ^`, "expected one of"},
		{`accuracy ~ 9`, `         ^`, "test_accuracy is not a text"},
		{`created > yesterday`, `          ^`, "2026-11-22"},
		{`(C > 1 or C < 0.1`, `                 ^`, `for the "(" at character 1`},
		{`C > 1)`, `     ^`, `not ")"`},
		{`not`, `   ^`, "expected a condition"},
		{`C > 1 and`, `         ^`, "expected a condition"},
		{`name = "a`, `       ^`, "is not closed"},
		{`größe = "ä"`, `^`, "no field"},
		{`note ~ "ä" and ;`, `               ^`, "unexpected"},
		{`C ! 1`, `  ^`, "!="},
		{`tag < a`, `    ^`, "tags is a list"},
		{`C < none`, `  ^`, "before none"},
		{`C = NaN`, `    ^`, "a number"},
		{strings.Repeat("x", maxQuery+1), strings.Repeat(" ", maxQuery) + "^", "at most"},
	} {
		_, err := ParseQuery(c.text)
		var wrong *QueryError
		require.Must(t, errors.As(err, &wrong), "%s: %v", c.text, err)
		want := utf8.RuneCountInString(c.caret)
		require.Check(t, wrong.Column == want && strings.Contains(err.Error(), c.says), "%s\n%s\n%v (want column %d and %q)", c.text, c.caret, err, want, c.says)
	}
}

// ugly creates a workspace of runs that differ in everything.
func ugly(t *testing.T, s *Store) (runs []Run) {
	t.Helper()
	names := []string{"a", "B", `q"u\o%te_`, "none", "and", "zwei Wörter"}
	for i := range 24 {
		n := NewRun{Name: names[i%len(names)], Data: sample(float64(1 + i%3)), DatasetName: []string{"moons", "Ripley"}[i%2], Spec: ml.DefaultSpec()}
		n.Spec.Kernel = []string{"rbf", "linear", "poly"}[i%3]
		n.Spec.Learner = []string{"svm", "mcm", "ridge"}[i/2%3]
		n.Spec = n.Spec.With("C", param.Of([]float64{0.1, 1, 10, 1e9}[i%4]))
		if i%5 == 0 {
			n.Spec = n.Spec.With("gamma", param.Of(0.25))
		}
		if i%7 == 0 {
			n.Spec = n.Spec.With("hard_margin", param.Of(true))
		}
		if i%2 == 0 {
			n.Tags = []string{"even", names[i%len(names)]}
		}
		if i%4 == 3 {
			n.Note = "100% sure"
		}
		s.Now = func() time.Time { return time.Date(2026, 11, 1+i%3, 10, i, 0, 0, time.UTC) }
		if i%6 == 5 {
			runs = append(runs, require.Value(s.CreateRun(t.Context(), alice, n))(t))
			continue
		}
		res := sampleResult(float64(i)/24, i)
		if i%8 == 1 {
			res.Report.TestAccuracy = nil
		}
		res.Report.Values = param.Values{}
		if n.Spec.Applies("gamma") {
			res.Report.Values = res.Report.Values.With("gamma", param.Of(1.0/float64(1+i)))
		}
		runs = append(runs, require.Value(s.saveRun(t.Context(), alice, n, res))(t))
	}
	return runs
}

// meets reports whether a run meets a condition, judged by the values that a page shows; the
// database evaluates the same condition in SQL.
func meets(r Run, f Field, op, text string) bool {
	v := f.Value(r)
	if text == "none" {
		return (v == nil) == (op == "=")
	}
	order := func(c int) bool {
		switch op {
		case "=":
			return c == 0
		case "<":
			return c < 0
		case "<=":
			return c <= 0
		case ">":
			return c > 0
		case ">=":
			return c >= 0
		}
		return false
	}
	if op == "!=" {
		return !meets(r, f, "=", text)
	}
	text = strings.ToLower(text)
	switch v := v.(type) {
	case float64:
		var x float64
		if _, err := fmt.Sscan(text, &x); err != nil {
			panic(err)
		}
		switch {
		case v < x:
			return order(-1)
		case v > x:
			return order(1)
		}
		return order(0)
	case string:
		if op == "~" {
			return strings.Contains(strings.ToLower(v), text)
		}
		return order(strings.Compare(strings.ToLower(v), text))
	case time.Time:
		return order(strings.Compare(v.UTC().Format("2006-01-02"), text))
	case []string:
		return slices.ContainsFunc(v, func(s string) bool {
			return op == "=" && strings.EqualFold(s, text) || op == "~" && strings.Contains(strings.ToLower(s), text)
		})
	}
	return false
}

// TestQueriesMeanWhatTheyShow: the database finds the runs whose shown values meet the
// query, for random queries over every field.
func TestQueriesMeanWhatTheyShow(t *testing.T) {
	s := fresh(t)
	runs := ugly(t, s)
	for i := range runs { // as stored, in full
		runs[i] = require.Value(s.RunWithoutModels(t.Context(), alice, runs[i].ID))(t)
	}
	type node struct {
		text string
		is   func(Run) bool
	}
	var draw func(t *rapid.T, depth int) node
	draw = func(t *rapid.T, depth int) node {
		if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
			f := rapid.SampledFrom(Fields()).Draw(t, "field")
			ops := []string{"=", "!=", "<", "<=", ">", ">="}
			values := []string{"none"}
			switch f.Kind {
			case NumberField:
				values = append(values, "0", "0.1", "1", "0.5", "1e9", "-3")
				if f.Unit != ml.Share { // 10 would be reported as a mistake
					values = append(values, "10")
				}
			case TimeField:
				values = append(values, "2026-11-01", "2026-11-02", "2026-11-30")
			case ListField:
				ops = []string{"=", "!=", "~"}
				values = append(values, "even", "a", "Q", "zwei Wörter", "o%t", `q"u\o%te_`)
			default:
				if f.Kind == TextField {
					ops = append(ops, "~")
				}
				values = append(values, f.Values...)
				if f.Values == nil {
					values = append(values, "a", "b", "moons", "RIPLEY", "100%", `q"u\o%te_`, "x")
				}
			}
			v := rapid.SampledFrom(values).Draw(t, "value")
			op := rapid.SampledFrom(ops).Draw(t, "op")
			if v == "none" && op != "=" {
				op = "!="
			}
			text := f.Name + op + Quoted(v)
			if v == "none" {
				text = f.Name + " " + op + " none"
			}
			return node{text, func(r Run) bool { return meets(r, f, op, v) }}
		}
		a := draw(t, depth-1)
		switch rapid.IntRange(0, 2).Draw(t, "join") {
		case 0:
			return node{"not (" + a.text + ")", func(r Run) bool { return !a.is(r) }}
		case 1:
			b := draw(t, depth-1)
			return node{"(" + a.text + ") and (" + b.text + ")", func(r Run) bool { return a.is(r) && b.is(r) }}
		}
		b := draw(t, depth-1)
		return node{"(" + a.text + " OR " + b.text + ")", func(r Run) bool { return a.is(r) || b.is(r) }}
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := draw(rt, 3)
		if utf8.RuneCountInString(n.text) > maxQuery {
			rt.Skip()
		}
		list, total, err := s.Runs(t.Context(), alice, Filter{Where: require.Value(ParseQuery(n.text))(rt, "%s", n.text)})
		require.Must(rt, err == nil, "%s: %v", n.text, err)
		id := func(r Run) string { return r.ID }
		got, want := lists.Map(list, id), lists.Map(lists.Filter(runs, n.is), id)
		slices.Sort(got)
		slices.Sort(want)
		require.Must(rt, slices.Equal(got, want) && total == len(want),
			"%s: %d runs, want %d", n.text, len(got), len(want))
	})
}

// TestEveryFieldSortsAndGroups: the groups hold all runs; the query of a group finds as many runs
// as the group counts, and its best run is the best of them.
func TestEveryFieldSortsAndGroups(t *testing.T) {
	s := fresh(t)
	runs := ugly(t, s)
	best, _ := LookupField("accuracy")
	for _, f := range Fields() {
		list, _, err := s.Runs(t.Context(), alice, Filter{Sort: f.Name, Desc: true})
		require.Check(t, err == nil && len(list) == len(runs), "sorted by %s: %d runs, %v", f.Name, len(list), err)
		groups := require.Value(s.Groups(t.Context(), alice, MustQuery("name != B"), f, best))(t)
		all := 0
		for _, g := range groups {
			all += g.Runs
			where := require.Value(MustQuery("name != B").In(f, g))(t, "%s %q", f.Name, g.Value)
			list, n, err := s.Runs(t.Context(), alice, Filter{Where: where, Sort: "accuracy", Desc: true})
			if err != nil || n != g.Runs {
				t.Errorf("%s: %d runs, %v, want %d", where, n, err, g.Runs)
			} else if top := best.Value(list[0]); g.Best != nil && (top != *g.Best || g.Run == "") || g.Best == nil && top != nil {
				t.Errorf("%s: best %v, want %v", where, g.Best, top)
			}
		}
		require.Check(t, all >= 20 && (f.Kind == ListField || all == 20), "%s: %d runs in groups, want 20", f.Name, all)
	}

	// A share may be written in percent, an operator as a sign.
	_, share, err := s.Runs(t.Context(), alice, Filter{Where: MustQuery("accuracy = 0.49")})
	require.NoError(t, err)
	_, percent, err := s.Runs(t.Context(), alice, Filter{Where: MustQuery("accuracy ≥ 49% and accuracy ≤ 49% and accuracy ≠ 50%")})
	require.Check(t, err == nil && percent == share && share > 0, "%d runs for 0.49, %d for 49%%, %v", share, percent, err)
}

func FuzzParseQuery(f *testing.F) {
	for _, text := range []string{"", "C > 1 and kernel = rbf", `not (tag = "a b" or x)`, "accuracy >= 90%", "((", `"`, "created = 2026-11-22", "not not not a", "a or b and c"} {
		f.Add(text)
	}
	s := open(f, f.TempDir())
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuery(text)
		var wrong *QueryError
		if err != nil {
			require.Must(t, errors.As(err, &wrong) && wrong.Column >= 1 && wrong.Column <= utf8.RuneCountInString(text)+1,
				"%q: %v", text, err)
			return
		}
		_, _, err = s.Runs(t.Context(), alice, Filter{Where: q})
		require.Must(t, err == nil, "%q as %s: %v", text, q.where, err)
		if more, err := q.And("name = " + Quoted(text)); err == nil {
			require.Value(ParseQuery(more.String()))(t, "%q and its own name", text)
		}
	})
}
