package generalisation

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// TestLeaveOneOutBoundHoldsOnTheScreen trains without each point over the range of the controls:
// there are at most as many errors as support vectors, and only on support vectors.
func TestLeaveOneOutBoundHoldsOnTheScreen(t *testing.T) {
	t.Parallel()
	points := toy()
	for _, k := range []string{"linear", "rbf"} {
		for _, c := range []string{"0.01", "0.3", "1", "30", "1000"} {
			for _, gamma := range []string{"0.05", "1", "20"} {
				full, wrong := eachOut(t.Context(), points, "kernel", k, "C", c, "gamma", gamma, "tol", "1e-5")
				share := float64(lists.CountTrue(wrong...)) / float64(len(wrong))
				b := theory.LeaveOneOutBound(full.Report.SupportVectors, len(wrong))
				require.Check(t, share <= b.Value, "%s, C %s, gamma %s: %g left out are missed, the bound is %g", k, c, gamma, share, b.Value)
				for i, w := range wrong {
					require.Check(t, !w || slices.Contains(full.Model.Supports.Rows, i),
						"%s, C %s, gamma %s: point %d is missed and was no support vector", k, c, gamma, i)
				}
				if k == "linear" {
					break // gamma is not used
				}
			}
		}
	}
}

// The linear MCM makes more leave-one-out errors than the bound for SVMs, which is not shown.
func TestNoBoundForMCM(t *testing.T) {
	t.Parallel()
	full, wrong := eachOut(t.Context(), toy(), "learner", "mcm", "kernel", "linear", "C", "1")
	n := lists.CountTrue(wrong...)
	require.Check(t, n > full.Report.SupportVectors, "%d missed, %d support vectors: no example any more", n, full.Report.SupportVectors)
	for _, n := range lessonstest.Show(t, Lesson(), "leave-one-out", "machine", "mcm").Numbers {
		require.Check(t, !strings.Contains(n.Label, "bound"), "an MCM is shown a bound: %+v", n)
	}
	// On curved patterns the sparsest machine is not the best; on circles it is close.
	for pattern, worse := range map[string]bool{"moons": true, "checkerboard": true, "circles": false} {
		_, all := trials(t.Context(), pattern, "0.05", 80, 1)
		few, best := fewest(all), leastWrong(all)
		require.Check(t, few.vectors < best.vectors && (few.wrong > best.wrong+0.03) == worse,
			"%s: %d support vectors and %g errors, the best has %d and %g", pattern, few.vectors, few.wrong, best.vectors, best.wrong)
	}
}

// TestCorrelationsOfEitherSign: the initial picture has machines whose error grows with the
// number of support vectors and others whose error falls; on moons all errors grow.
func TestCorrelationsOfEitherSign(t *testing.T) {
	t.Parallel()
	signs := func(pairs ...string) (below, above int) {
		for _, row := range lessonstest.Show(t, Lesson(), "fewer", pairs...).Tables[0].Rows {
			if strings.HasPrefix(row[5], "−") {
				below++
			} else {
				above++
			}
		}
		return below, above
	}
	below, above := signs()
	require.Check(t, below != 0 && above != 0, "at first %d correlations below 0 and %d above", below, above)
	below, _ = signs("pattern", "moons")
	require.Check(t, below <= 0, "on moons %d correlations below 0", below)
}

func TestFolds(t *testing.T) {
	t.Parallel()
	rows := sample(200, 3)
	require.Check(t, len(rows) == most && slices.IsSorted(rows) && len(slices.Compact(slices.Clone(rows))) == len(rows) && rows[0] >= 0 && rows[len(rows)-1] <= 199,
		"the sample is %v", rows)
	d := &dataset.Data{Y: make([]int, 200)}
	for i := range d.Y {
		d.Y[i] = i % 2
	}
	parts := deal(d, rows, 4, 3)
	for k, test := range parts {
		both := append(others(parts, k), test...)
		slices.Sort(both)
		require.Check(t, slices.Equal(both, rows), "fold %d and the others are %v", k, both)
	}
}

// TestStudyKeepsTestRowsOut: the choice of settings is independent of the test rows but not of
// the training rows. Labels are kept, as they determine the folds. The study is reproducible.
func TestStudyKeepsTestRowsOut(t *testing.T) {
	t.Parallel()
	const folds, seed = 4, 2
	d := mltest.Builtin(t, "iris-sepal")
	one := run(t.Context(), d, folds, 1, seed)
	again := run(t.Context(), d, folds, 1, seed)
	require.Check(t, reflect.DeepEqual(one, again), "a second time the study gives %+v, not %+v", again, one)
	parts := deal(d, sample(len(d.Y), seed), folds, seed)
	spoil := func(rows []int) *dataset.Data {
		s := d.Subset(dataset.Indices(len(d.Y)))
		s.X = mat.DenseCopyOf(d.X)
		for k, i := range rows {
			s.X.Set(i, 0, 100+math.Sqrt(float64(k)))
		}
		return s
	}
	other := run(t.Context(), spoil(parts[0]), folds, 1, seed)
	require.Check(t, reflect.DeepEqual(one[0].chosen, other[0].chosen) && slices.Equal(one[0].vectors, other[0].vectors),
		"spoilt test rows change the choice from %+v to %+v", one[0].chosen, other[0].chosen)
	require.Check(t, !slices.Equal(one[0].accuracy, other[0].accuracy),
		"spoilt test rows do not even change the accuracy")
	trained := run(t.Context(), spoil(parts[1]), folds, 1, seed)
	require.Check(t, !reflect.DeepEqual(one[0].chosen, trained[0].chosen) || !slices.Equal(one[0].vectors, trained[0].vectors),
		"spoilt training rows change nothing")
}

// The estimate on a test fold falls with every setting tried, below the true error.
func TestTuningOnTheTestFoldFlatters(t *testing.T) {
	t.Parallel()
	draws := tunings(t.Context(), 0.6, 1, 1, repeats)
	var flattery, first []float64
	last := tried - 1
	for _, o := range draws {
		for k := range last {
			require.Must(t, o.claimed[k+1] <= o.claimed[k], "the best of more settings is worse: %v", o.claimed)
		}
		flattery, first = append(flattery, o.truth[last]-o.claimed[last]), append(first, o.truth[0]-o.claimed[0])
	}
	m, se := eval.MeanError(flattery)
	require.Check(t, m >= 2*se, "flattery of %g ± %g", m, se)
	m, se = eval.MeanError(first)
	require.Check(t, math.Abs(m) <= 3*se, "a single setting, chosen by nobody, is off by %g ± %g", m, se)
}

// The score appears after the last bet, the rest with the answer, which closes betting.
func TestBets(t *testing.T) {
	t.Parallel()
	for bets, note := range map[string]string{"ttfffft": "7 of 7 bets are right", "fftttxf": "Bet 7 of 7, for a valid kernel", "ffttttf": "0 of 7 bets are right", "ttffff": "Bet 7 of 7"} {
		e := lessonstest.Show(t, Lesson(), "summary", "bets", bets)
		all, asking := strings.Contains(note, "right"), e.Asking()
		require.Check(t, strings.HasPrefix(asking.Notes[0], note) && len(asking.Moves) > 0, "after %s: %s", bets, asking.Notes[0])
		require.Check(t, len(e.Notes) == 0 && len(e.Moves) == 0 && (len(e.After) > 0) == all, "after the answer: %q, %v", e.Notes, e.Moves)
		for _, waits := range []bool{true, false} {
			var b strings.Builder
			p := require.Value(e.Figures[0].Draw(lessons.Look{Width: 480, Height: 400, Asking: waits}))(t)
			require.NoError(t, p.SVG(t.Context(), &b))
			for words, there := range map[string]bool{"it depends": !waits, "points, ": !waits, ">bet: true<": waits, ">bet: right<": !waits && bets == "ttfffft", ">bet: wrong<": !waits && bets == "ffttttf"} {
				require.Equal(t, strings.Contains(b.String(), words), there, "%q after %s, waiting: %v", words, bets, waits)
			}
		}
	}
}

// For no width does the evidence on the third card contradict its verdict.
func TestSparsestIsNotTheBest(t *testing.T) {
	t.Parallel()
	evidence := regexp.MustCompile(`(\d+ SVs?): [\d.]+ % errors; (\d+ SVs?): `)
	for _, gamma := range []string{"0.01", "0.05", "0.14", "1", "10", "100"} {
		e := lessonstest.Show(t, Lesson(), "summary", "gamma", gamma)
		b := require.Drawn(t, require.Value(e.Figures[0].Draw(lessons.Look{Width: 480, Height: 400}))(t).SVG)
		found := evidence.FindStringSubmatch(b)
		require.Check(t, found != nil && found[1] != found[2], "gamma %s: the sparsest is the best: %q", gamma, found)
	}
}

// At the sizes of phones, slides and paper no text of a claim overlaps another or its card.
func TestCardsDoNotOverlap(t *testing.T) {
	t.Parallel()
	letters := font.NewCache(liberation.Collection()).Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, 13)
	texts := regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)" font-size="13"[^>]*>([^<]*)</text>`)
	type box struct {
		text                     string
		left, right, top, bottom float64
	}
	for _, size := range [][2]int{{240, 282}, {282, 332}, {310, 365}, {340, 400}, {419, 493}, {420, 494}, {500, 446}, {640, 500}, {320, 213}} {
		for _, bets := range []string{"", "tftf", "tftfttt"} {
			e := lessonstest.Show(t, Lesson(), "summary", "bets", bets)
			for _, asking := range []bool{true, false} {
				p := require.Value(e.Figures[0].Draw(lessons.Look{Width: size[0], Height: size[1], Asking: asking}))(t)
				svg := require.Drawn(t, p.SVG)
				var boxes []box
				for _, m := range texts.FindAllStringSubmatch(svg, -1) {
					x, y := require.Value(strconv.ParseFloat(m[1], 64))(t), require.Value(strconv.ParseFloat(m[2], 64))(t)
					b := box{m[3], x, x + float64(letters.Width(m[3])), y - 9.5, y + 2.5}
					require.Check(t, b.left >= 10 && b.right <= float64(size[0])-10,
						"%v, bets %q, asking %v: %q leaves its card", size, bets, asking, b.text)
					for _, o := range boxes {
						require.Check(t, b.left >= o.right || o.left >= b.right || b.top >= o.bottom || o.top >= b.bottom,
							"%v, bets %q, asking %v: %q is over %q", size, bets, asking, b.text, o.text)
					}
					boxes = append(boxes, b)
				}
				require.Check(t, len(boxes) >= 7, "%v: %d texts", size, len(boxes))
			}
		}
	}
}
