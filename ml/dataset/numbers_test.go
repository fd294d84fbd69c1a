package dataset

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

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
