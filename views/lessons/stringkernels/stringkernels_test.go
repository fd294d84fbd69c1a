package stringkernels

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

func show(t *testing.T, screen string, pairs ...string) *lessons.Exhibit {
	t.Helper()
	return lessonstest.Show(t, Lesson(), screen, pairs...)
}

// Its columns fall short of the kernel by lambda, for cat and cart only, and all columns add up.
func TestTheHandoutMissesAColumn(t *testing.T) {
	t.Parallel()
	for _, lambda := range []float64{0.1, 0.5, 1} {
		e := show(t, "gaps", "decay", lessons.Setting(lambda))
		sums := e.Tables[1]
		require.Check(t, len(e.Tables[0].Head) == 1+7 && sums.Rows[0][1] == `$1 + \lambda^{3}$` && len(sums.Marked) == 1 && sums.Marked[0] == 0,
			"the seven columns: %v, %v", e.Tables[0].Head, sums)
		lessonstest.Near(t, "what is missing", lessonstest.Value(t, sums.Rows[0][3])-lessonstest.Value(t, sums.Rows[0][2]), lambda, 1e-3)
		require.Check(t, strings.Contains(e.Notes[0], "a piece is missing"), "%v", e.Notes)
		e = show(t, "gaps", "decay", lessons.Setting(lambda), "seven", "false")
		for k, want := range []string{`$1 + \lambda + \lambda^{3}$`, "$0$", "$1$"} {
			row := e.Tables[1].Rows[k]
			require.Check(t, row[1] == want && row[2] == row[3], "all columns: %v, want %s", row, want)
		}
		require.Check(t, len(e.Tables[0].Head) == 1+8 && e.Tables[0].Head[8] == "at" && !strings.Contains(strings.Join(e.After, ""), "missing"),
			"all columns: %v, %v", e.Tables[0].Head, e.After)
	}
}

// TestTheTableEndsInTheKernel: the last table sums to the kernel, for various inputs.
func TestTheTableEndsInTheKernel(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"cat", "cart", "2"}, {"banana", "ananas", "3"}, {"é*$", "$é", "2"}, {"a", "bcd", "1"}, {"ab", "b", "3"}} {
		form := []string{"x", c[0], "z", c[1], "k", c[2], "decay", "0.3"}
		end := show(t, "filling", append(form, "step", "100000")...)
		require.Must(t, end.Step == end.Steps-1, "%v: step %d of %d", c, end.Step, end.Steps)
		last := show(t, "filling", append(form, "step", strconv.Itoa(end.Steps-1))...)
		sum, lab := lessonstest.Number(t, last, "sum of $A_{"+c[2]+"}$ so far"), lessonstest.Number(t, last, "$k(x, z)$ of the lab")
		require.Check(t, sum == lab, "%v: the table ends in %s, the kernel is %s", c, sum, lab)
		for _, n := range show(t, "filling", append(form, "step", "1")...).Numbers {
			require.Check(t, !strings.Contains(n.Label, "of the lab"), "%v: the end is shown before the run", c)
		}
	}
	e := show(t, "filling", "x", " ", "z", "cart")
	require.Check(t, e.Steps == 1 && strings.Contains(e.Notes[0], "is 0"), "no symbols: %d steps, %v", e.Steps, e.Notes)
}

// TestStepsShowTheirSum: the entry of a step equals the sum printed beside it.
func TestTheTablesAddUp(t *testing.T) {
	t.Parallel()
	e := show(t, "filling", "step", "18") // B_1 of the first two symbols
	n := e.Numbers[0]
	require.Check(t, n.Label == "$B_{1}(2, 2)$" && n.Value == "1.25" && n.Help == `$= 1 + 0.5 \cdot 0.5 + 0.5 \cdot 0.5 - 0.25 \cdot 1$`, "%+v", n)
	require.Equal(t, lessons.TeX(-1.5e-7), `-1.5 \cdot 10^{-7}`, "a small number")
	// The kernel is the sum of the products in the table, 0 if a string has no k-mer.
	for _, pairs := range [][]string{{}, {"k", "1"}, {"x", "aaaa", "z", "aa b", "k", "2"}, {"x", "ab", "k", "5"}} {
		e := show(t, "spectrum", pairs...)
		sum := 0.0
		for _, row := range e.Tables[0].Rows {
			sum += lessonstest.Value(t, row[3])
		}
		require.Equal(t, lessonstest.Value(t, lessonstest.Number(t, e, "$k_k(x, z)$")), sum, "%v: shown and in the table", pairs)
	}
	// Normalised, both conventions give the reference values for weights by span.
	rows := show(t, "weights").Tables[0].Rows
	for k, want := range []float64{.848679, .579814, .478455, .438871, .405745, .369156} {
		lessonstest.Near(t, fmt.Sprintf("k = %d", k+1), lessonstest.Value(t, rows[k][3]), want, 1e-6)
	}
	// By span, counted by hand: "ab" and "ab" for lambda = 1/2 give 1/2^4.
	row := show(t, "weights", "x", "ab", "z", "ab").Tables[0].Rows[1]
	require.Check(t, row[1] == "1" && row[2] == "0.0625", "ab, ab: %v", row)
}

func TestTyped(t *testing.T) {
	t.Parallel()
	e := show(t, "objects", "x1", "a$b*", "x2", "a b\x00\xff", "x3", "  ", "worth", "count")
	lessonstest.CheckExhibit(t, e)
	require.Equal(t, strings.Join(e.Tables[0].Head, " "), "word ␣b ＄b a␣ a＄ b∗", "columns")
	e = show(t, "objects", "x1", "a", "x2", "b", "x3", "c")
	require.Check(t, len(e.Notes) == 1 && lessonstest.Number(t, e, "pieces that occur") == "0", "short words: %v", e.Notes)
	for kind, refuted := range map[string]bool{"gap": false, "spectrum": false, "longest": true} {
		e := show(t, "valid", "similarity", kind)
		least := lessonstest.Value(t, lessonstest.Number(t, e, "smallest eigenvalue"))
		require.Check(t, least < 0 == refuted && (len(e.Notes) > 0) == refuted, "%s: smallest eigenvalue %g, %v", kind, least, e.Notes)
	}
	e = show(t, "valid", "words", strings.Repeat("ab ", 12))
	require.Check(t, lessonstest.Number(t, e, "words") == "8", "more words than the screen takes are shown")
	// The tables are smaller than the list except for very short strings, and grow quadratically.
	e = show(t, "cost")
	require.Check(t, lessonstest.Number(t, e, `$(2k-1)\,n^2$`) == "2800" && lessonstest.Number(t, e, "$N^2$") == "2.347·10⁷" && lessonstest.Number(t, e, `$\lvert A\rvert^k$`) == "256",
		"%v", e.Numbers)
}

// TestMachine checks the screen's statements on letters, motifs and mutations.
func TestMachine(t *testing.T) {
	t.Parallel()
	fresh := func(pairs ...string) (mean float64) {
		const seeds = 4
		for s := range seeds {
			e := show(t, "machine", append(pairs, "seed", strconv.Itoa(s+1))...)
			mean += lessonstest.Value(t, lessonstest.Number(t, e, "right on fresh strings")) / seeds
		}
		return mean
	}
	three, one, noise := fresh("k", "3"), fresh("k", "1"), fresh("k", "3", "noise", "0.75")
	require.Check(t, three >= 80 && one <= three-10 && noise <= 60,
		"right on fresh strings: %.1f %%, by letters %.1f %%, without motifs %.1f %%", three, one, noise)
	train, _ := drawn(0.1, 1)
	motif := train.Classes[1]
	value := func(text string) float64 {
		return lessonstest.Value(t, lessonstest.Number(t, show(t, "machine", "own", text), "$f$ of your string"))
	}
	with, other := value("AAAAAA"+motif+"AAAAAA"), value("AAAAAA"+train.Classes[0]+"AAAAAA")
	require.Check(t, with > other, "with the motif %g, with the other %g", with, other)
	_, ok := train.Objects.(*dataset.Strings)
	require.Check(t, ok && train.Len() == trained, "%d rows of %T", train.Len(), train.Objects)
}

// The cut has the counts of the substrings, and doubling the length takes four times as many steps by
// pairs and twice as many by a tree, whatever the length of the substrings.
func TestSuffixTree(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"1", "8", "20"} {
		e := show(t, "suffix", "k", k)
		for label, want := range map[string]float64{"every pair": 4, "trie": 2, "suffix tree": 2} {
			value := lessonstest.Number(t, e, label+": twice as long")
			lessonstest.Near(t, k+", "+label, lessonstest.Value(t, strings.TrimPrefix(value, "× ")), want, 0.04)
		}
	}
	for text, want := range map[string][2]string{"banana": {"10", "3"}, "a $": {"4", "2"}, "aaaaaaaaaa": {"20", "1"}} {
		e := show(t, "suffix", "x", text)
		lessonstest.CheckExhibit(t, e)
		got := [2]string{lessonstest.Number(t, e, "nodes below the root"), lessonstest.Number(t, e, "different k-mers")}
		require.Check(t, got == want, "%q: nodes and k-mers %v, want %v", text, got, want)
	}
}
