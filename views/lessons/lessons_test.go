package lessons

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.25": 0.25, "0,25": 0.25, "1/4": 0.25, "−3e-2": -0.03, " 2 ": 2, "-1/5": -0.2} {
		got, err := ReadNumber(text)
		require.Check(t, err == nil && got == want, "%q: %v, %v; want %v", text, got, err, want)
	}
	for _, text := range []string{"", "x", "1/0", "0/0", "1/", "/2", "1//2", "NaN", "inf"} {
		got, err := ReadNumber(text)
		require.Check(t, err != nil, "%q is %v", text, got)
	}
}

// TestTypeset keeps numbers and their units together and writes powers of ten as such.
func TestTypeset(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"7.731e−12":         "7.731·10⁻¹²",
		"−8.3e-07":          "−8.3·10⁻⁷",
		"2.347e+07":         "2.347·10⁷",
		"14.0 %":            "14.0\u00a0%",
		"8 of 8":            "8 of 8",
		"needs an error":    "needs an error",
		"C = 100, γ = 0.05": "C\u00a0=\u00a0100, γ\u00a0=\u00a00.05",
		"$R = 2$, the rest": "$R = 2$, the rest",
		"the word ate3e5x":  "the word ate3e5x",
	} {
		require.Equal(t, Typeset(value), want, "%q becomes", value)
	}
}

// Columns of numbers are aligned right; those of words, symbols and lists of numbers are not.
func TestColumnsOfNumbers(t *testing.T) {
	t.Parallel()
	table := Table{Head: make([]string, 9), Rows: [][]string{
		{"1", "+1", "0.84 %", "·", "–", "wrong", "(1, 2)", "λ", "1"},
		{"2", "7.7e−12", "", "−1", "∞", "", "0", "1", "A"},
	}}
	require.Slices(t, table.numbers(), []bool{false, true, true, true, true, false, false, false, false}, "columns of numbers")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	q := &Question{Slug: "which", Options: []string{"one", "two", "Neither."}}
	first := map[int]int{}
	for n := range 200 {
		seed := fmt.Sprint(n)
		order := q.Order(seed)
		again := q.Order(seed)
		require.Must(t, slices.Equal(order, again), "seed %s: %v, and then %v", seed, order, again)
		require.Must(t, order[2] == 2, "seed %s: %v has %q before others", seed, order, q.Options[2])
		require.Must(t, order[0]+order[1] == 1, "seed %s: %v", seed, order)
		first[order[0]]++
	}
	require.Check(t, min(first[0], first[1]) >= 60, // 5.6 standard deviations
		"of 200 orders %d begin with the first option and %d with the second", first[0], first[1])
	order := (&Question{}).Order("a")
	require.Check(t, len(order) == 0, "a question without options has the order %v", order)
}

func TestTeX(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 0.5: "0.5", -3: "-3", 1e-12: "0", 5.961e-8: `5.961 \cdot 10^{-8}`, -2.5e7: `-2.5 \cdot 10^{7}`,
		math.Inf(1): `\infty`, math.Inf(-1): `-\infty`,
	} {
		require.Equal(t, TeX(v), want, "TeX(%v)", v)
	}
	for v, want := range map[float64]string{2: "2", -0.25: `-\tfrac{1}{4}`, 0.6789: "0.679", 1.23456e-7: `1.23 \cdot 10^{-7}`} {
		require.Equal(t, TeXFraction(v), want, "TeXFraction(%v)", v)
	}
}
