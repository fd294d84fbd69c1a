//go:build peers

package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"marginlab/ml/mltest/require"
)

// run is one run of a program: what it took and the objective it reached. A field
// that nobody measured is NaN.
type run struct {
	seconds, objective, megabytes float64
}

// errSlow is the failure of a program that was stopped after so long.
type errSlow time.Duration

func (e errSlow) Error() string { return fmt.Sprintf("not done after %v", time.Duration(e)) }

// row is a line of the table: the medians of both sides.
type row struct {
	group, name  string
	n            int // points
	ours, theirs run
	runs         int
	failure      error // of the peer
}

func (r *row) String() string { return fmt.Sprintf("%s, %s, n=%d", r.group, r.name, r.n) }

// ratio is ours over theirs. For a peer that was stopped it is an upper bound, and NaN
// when that says nothing or the peer failed.
func (r *row) ratio() float64 {
	q := r.ours.seconds / r.theirs.seconds
	if r.failure != nil && q >= 1 {
		return math.NaN()
	}
	return q
}

// table collects the rows of all comparisons; it is printed once, at the end.
type table struct{ rows []row }

// agree tells whether two objectives differ by no more than most, relative to the
// larger one or to 1.
func agree(ours, theirs, most float64) bool {
	return math.IsNaN(ours) || math.IsNaN(theirs) || math.Abs(ours-theirs) <= most*max(1, math.Abs(ours), math.Abs(theirs))
}

// compare measures a case: both sides in turn, the median of five after a
// warm-up, or one run where both together take over three seconds. The objectives
// must agree to most, relatively.
func (all *table) compare(t *testing.T, r row, most float64, ours, theirs func() (run, error)) {
	t.Helper()
	var left, right []run
	for wanted := 1; len(left) < wanted; {
		a, err := ours()
		if err != nil {
			t.Errorf("%v: %v", &r, err)
			return
		}
		b, err := theirs()
		var slow errSlow
		if r.failure = err; errors.As(err, &slow) {
			b = run{time.Duration(slow).Seconds(), math.NaN(), math.NaN()}
		} else if err != nil {
			b = run{math.NaN(), math.NaN(), math.NaN()}
		}
		if wanted == 1 && err == nil && a.seconds+b.seconds < 3 {
			wanted = 5 // this was the warm-up
			continue
		}
		left, right = append(left, a), append(right, b)
	}
	r.ours, r.theirs, r.runs = median(left), median(right), len(left)
	require.Check(t, agree(r.ours.objective, r.theirs.objective, most),
		"%v: the objectives differ: ours %.12g, theirs %.12g", &r, r.ours.objective, r.theirs.objective)
	all.rows = append(all.rows, r)
	note := ""
	if r.failure != nil {
		note = r.failure.Error()
	}
	t.Logf("%v: %.4f s against %.4f s, ratio %.3f %s", &r, r.ours.seconds, r.theirs.seconds, r.ratio(), note)
}

func median(runs []run) run {
	slices.SortFunc(runs, func(a, b run) int { return int(math.Copysign(1, a.seconds-b.seconds)) })
	return runs[len(runs)/2]
}

// String returns the table, followed by the ratios of each group as the Markdown table of
// the manual, and by how the cost of a case grows with the number of points.
func (all *table) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tours s\ttheirs s\tratio\tour objective\ttheir objective\tour MB\ttheir MB\truns\t")
	number := func(format string, v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	var groups []string
	for _, r := range all.rows {
		if !slices.Contains(groups, r.group) {
			groups = append(groups, r.group)
		}
		theirs, ratio := number("%.4f", r.theirs.seconds), number("%.4f", r.ratio())
		var slow errSlow
		switch {
		case errors.As(r.failure, &slow):
			theirs = ">" + theirs
			if ratio != "" {
				ratio = "<" + ratio
			}
		case r.failure != nil:
			theirs = r.failure.Error()
		}
		fmt.Fprintf(w, "%v\t%.4f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", &r, r.ours.seconds, theirs, ratio,
			number("%.10g", r.ours.objective), number("%.10g", r.theirs.objective),
			number("%.0f", r.ours.megabytes), number("%.0f", r.theirs.megabytes), r.runs)
	}
	w.Flush()
	fmt.Fprintln(&text, "\n| comparison | cases | geometric mean | largest |\n|---|---|---|---|")
	for _, g := range groups {
		var count int
		var logs, worst float64
		for _, r := range all.rows {
			if q := r.ratio(); r.group == g && !math.IsNaN(q) {
				logs += math.Log(q)
				worst = max(worst, q)
				count++
			}
		}
		if count > 0 {
			fmt.Fprintf(&text, "| %s | %d | %.3f | %.3f |\n", g, count, math.Exp(logs/float64(count)), worst)
		}
	}
	fmt.Fprintln(&text)
	all.growth(&text)
	return text.String()
}

// growth writes the exponents p of time ~ n^p that fit the rows of one name best,
// for those measured at two numbers of points at least.
func (all *table) growth(text *strings.Builder) {
	type series struct{ n, ours, theirs []float64 } // logarithms
	found := map[string]*series{}
	var names []string
	for _, r := range all.rows {
		if r.failure != nil {
			continue
		}
		name := r.group + ", " + r.name
		s := found[name]
		if s == nil {
			s = &series{}
			found[name] = s
			names = append(names, name)
		}
		s.n = append(s.n, math.Log(float64(r.n)))
		s.ours = append(s.ours, math.Log(r.ours.seconds))
		s.theirs = append(s.theirs, math.Log(r.theirs.seconds))
	}
	for _, name := range names {
		if s := found[name]; len(s.n) > 1 {
			fmt.Fprintf(text, "%s: time grows as n^%.2f, theirs as n^%.2f, over %d sizes\n", name, slope(s.n, s.ours), slope(s.n, s.theirs), len(s.n))
		}
	}
}

// slope returns the slope of the least-squares line through points.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
