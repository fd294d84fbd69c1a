package dataset

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// TestCells does with a column of few texts, and with one of many, what it does with a list.
func TestCells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{3, 20, mostDistinct, 2 * mostDistinct}).Draw(t, "most")
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("é", rapid.IntRange(0, 2).Draw(t, "accents")) + fmt.Sprint(rapid.IntRange(0, most).Draw(t, "number"))
		}), most, 1000).Draw(t, "texts")
		c := column("c", texts)
		same := func(did string) {
			diff := cmp.Diff(texts, c.list())
			require.Must(t, diff == "" && c.Len() == len(texts), "%s: %d of %d rows (-want +got):\n%s", did, c.Len(), len(texts), diff)
			want := slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
				for _, s := range texts {
					if !yield(s, true) {
						return
					}
				}
			})))
			got := slices.Compact(slices.Sorted(c.values()))
			require.Must(t, slices.Equal(got, want), "%s: the values %q, want %q", did, got, want)
		}
		same("added")
		for range min(2, len(texts)) {
			texts = texts[1:]
			c.skip()
			same("skipped")
		}
		n := rapid.IntRange(0, len(texts)).Draw(t, "n")
		texts = texts[:n]
		c.cut(n)
		same("cut")
		other := func(s string) string { return strings.ReplaceAll(s, "1", "eins") }
		for i := range texts {
			texts[i] = other(texts[i])
		}
		c.rewrite(other)
		same("rewritten")
		c.zeros(n + 5)
		texts = append(texts, "0", "0", "0", "0", "0")
		same("with zeros")
	})
}

// TestParseTakesThreeTimesTheFile counts, beside the text of the file, all that is allocated,
// an upper bound of the memory in use at any time. Values of one digit are the shortest there are.
func TestParseTakesThreeTimesTheFile(t *testing.T) {
	for name, value := range map[string]func(r *rand.Rand) string{
		"digits":   func(r *rand.Rand) string { return fmt.Sprint(r.IntN(10)) },
		"numbers":  func(r *rand.Rand) string { return fmt.Sprint(r.IntN(100_000)) },
		"decimals": func(r *rand.Rand) string { return fmt.Sprintf("%.6f", r.NormFloat64()) },
		"words":    func(r *rand.Rand) string { return fmt.Sprintf("w%x", r.IntN(1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var text bytes.Buffer
			for i := range 60_000 {
				for range 15 {
					text.WriteString(value(r))
					text.WriteByte(',')
				}
				fmt.Fprintf(&text, "%c\n", 'A'+i%2)
			}
			file := text.String()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			table, err := parseCSV(file, DefaultLimits)
			runtime.ReadMemStats(&after)
			require.Must(t, err == nil && len(table.Lines) >= 59_999, "%v", err)
			if times := 1 + float64(after.TotalAlloc-before.TotalAlloc)/float64(len(file)); times > 3 {
				t.Errorf("%.2f times the %d bytes of the file were taken", times, len(file))
			} else {
				t.Logf("%.2f times the file", times)
			}
		})
	}
}

// TestNumbersAreStrconvs compares what reads and writes numbers sooner with what takes longer.
func TestNumbersAreStrconvs(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.StringMatching(`[+-]?[0-9]{0,18}\.?[0-9]{0,18}(e[+-]?[0-9]{1,3})?`),
		rapid.StringMatching(`[-+.0-9e]{0,6}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		want, err := strconv.ParseFloat(s, 64)
		if got, ok := parseNumber(s); ok != (err == nil) || ok && (got != want || got == 0 && math.Signbit(got)) {
			t.Errorf("%q: %v %v, want %v %v", s, got, ok, want, err)
		}
		if p := pack(s, 7); p&isDecimal != 0 {
			require.Check(t, p.text() == s && p.value() == want, "%q: packed %q, %v, want %v", s, p.text(), p.value(), want)
		} else {
			require.Check(t, p == packed(7<<lengthBits|len(s)) || s == "" && p == 0, "%q: packed %x", s, p)
		}
		v := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-2e6, 2e6), func(k int) float64 { return float64(k) })).Draw(t, "number")
		if got, want := string(appendNumber(nil, v)), strconv.FormatFloat(v, 'g', -1, 64); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	for _, v := range []float64{0, math.Copysign(0, -1), 999_999, 1e6, -1e6, 0.5, math.MaxInt64} {
		got, want := string(appendNumber(nil, v)), strconv.FormatFloat(v, 'g', -1, 64)
		require.Check(t, got == want, "%s, want %s", got, want)
	}
}
