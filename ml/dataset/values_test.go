package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestValues(t *testing.T) {
	t.Parallel()
	d := require.Value(Read(strings.NewReader("x;y\n1;2,50\n2;-1e3\n3;+7\n4;2,5\n"), "f", Mapping{}, DefaultLimits))(t)
	got, err := d.Values()
	require.Check(t, err == nil && slices.Equal(got, []float64{2.5, -1000, 7, 2.5}), "%v, %v", got, err)
	for _, label := range []string{"a", "0x10", "1_000", "1e999", "NaN", "Inf", "2,5"} {
		got, err := (&Data{Classes: []string{"1", label}, Y: []int{0, 1}}).Values()
		require.Check(t, err != nil && strings.Contains(err.Error(), label), "%s: %v, %v", label, got, err)
	}
	// A column of many numbers is a label: of a regression.
	text := "x,target\n"
	for i := range 401 {
		text += fmt.Sprintf("%d,%d.5\n", i, i)
	}
	table := require.Value(ParseTable(strings.NewReader(text), "f", DefaultLimits))(t)
	m, obvious := table.Guess()
	d, err = table.Data(m)
	require.Must(t, err == nil && obvious && m.Label == "target" && len(d.Classes) == 401 && d.Measured() && d.Scattered(),
		"%+v, %t, %v", m, obvious, err)
	roundTrip(t, d)
	// Words that are all different are no label where there are numbers to fit.
	text = "s,score\n"
	for i := range 20 {
		text += fmt.Sprintf("w%c,%d.5\n", 'a'+i, i)
	}
	table = require.Value(ParseTable(strings.NewReader(text), "f", DefaultLimits))(t)
	m, _ = table.Guess()
	require.Check(t, m.Label == "score" && m.Kind == KindStrings, "%+v", m)
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	whole := func(n int) (labels []string) {
		for i := range n {
			labels = append(labels, strings.Repeat("1", i%9+1)+strings.Repeat("0", i/9))
		}
		SortLabels(labels)
		return labels
	}
	for _, c := range []struct {
		name   string
		labels []string
		rows   int
		want   bool
	}{
		{"two classes", []string{"-0.5", "0.5"}, 40, false},
		{"grades", []string{"1", "2", "3"}, 3, false},
		{"words", []string{"1.5", "2.5", "none"}, 3, false},
		{"lengths", []string{"1.5", "2", "3"}, 300, true},
		{"ten digits", whole(10), 12, false},
		{"ages of few", whole(11), 20, true},
		{"digits of many", whole(11), 200, false},
		{"prices of many", whole(101), 5000, true},
	} {
		require.Equal(t, Measured(c.labels, c.rows), c.want, "%s", c.name)
	}
}
