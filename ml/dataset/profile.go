package dataset

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"marginlab/ml/lists"
)

// ProfileBins is the number of bins of equal width in a Profile.
const ProfileBins = 12

// Profile summarises a column: a histogram of its numbers, or the counts of its most frequent
// words.
type Profile struct {
	Least, Most float64  // of numbers
	Words       []string // at most ProfileBins words, most frequent first; nil: the column holds numbers
	Counts      []int    // rows by bin, or by word
}

// ProfileOf returns the histogram of finite numbers; if all are equal, they are in the first bin.
func ProfileOf(values []float64) Profile {
	p := Profile{Counts: make([]int, ProfileBins)}
	if len(values) == 0 {
		return p
	}
	p.Least, p.Most = slices.Min(values), slices.Max(values)
	part := p.Most/ProfileBins - p.Least/ProfileBins // the difference itself may overflow
	for _, v := range values {
		k := 0
		if part > 0 {
			k = min(int(math.Floor(v/part-p.Least/part)), ProfileBins-1)
		}
		p.Counts[max(k, 0)]++
	}
	return p
}

// Profile summarises the column, ignoring missing values.
func (c *Column) Profile() Profile {
	if c.Numeric || c.Gappy() {
		values := make([]float64, c.Len())
		c.numbers()(values, 1, 0, len(values))
		return ProfileOf(slices.DeleteFunc(values, math.IsNaN))
	}
	rows := make(map[string]int)
	for i, n := range c.counted() {
		if !c.lacking(i) {
			rows[c.Cell(i)] += n
		}
	}
	words := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b))
	})
	words = words[:min(len(words), ProfileBins)]
	return Profile{Words: words, Counts: lists.Map(words, func(s string) int { return rows[s] })}
}
