package stepwise

import (
	"context"

	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// SubsequenceTables holds the partly filled tables of the gap-weighted subsequence kernel of two
// strings x and z (SVM notes 19.2). With x_i the i-th symbol of x,
//
//	A_p(i, j)   is the total weight of pairs of occurrences of p symbols, ending
//	            with x_i and z_j
//	B_p(i, j)   is the sum of decay^(i-i' + j-j') A_p(i', j') over i' <= i, j' <= j
//
// and with A_1 = 1 if x_i = z_j, else 0,
//
//	B_p(i, j)     = A_p(i, j) + decay B_p(i-1, j) + decay B_p(i, j-1) - decay² B_p(i-1, j-1)
//	A_{p+1}(i, j) = B_p(i-1, j-1) if x_i = z_j, else 0
//
// The kernel is the sum of all entries of A_k. There are 2k-1 tables, in the order A_1, B_1, A_2,
// .., A_k; tables, rows and columns are numbered from 0.
type SubsequenceTables struct {
	X, Z  []rune
	K     int
	Decay float64

	filled []float64 // table by table, row by row
}

// SubsequenceTerm is a summand of an entry: Factor times another entry, which is 0 before the
// first row or column.
type SubsequenceTerm struct {
	Factor          float64
	Table, Row, Col int
	Value           float64 // of that entry
}

// maxSubsequenceEntries is the largest number of entries of all tables.
const maxSubsequenceEntries = 2000

// Subsequences fills the tables one entry per step, each table row by row. k is at least 1, decay
// in (0, 1]. A string may be empty. It returns an error for more than 2000 entries.
func Subsequences(ctx context.Context, x, z string, k int, decay float64) (*trace.Replay[SubsequenceTables], error) {
	switch {
	case k < 1:
		return nil, param.Refuse("use 1 or more", "subsequences of %d symbols", k)
	case !(decay > 0 && decay <= 1):
		return nil, param.Refuse("use a number above 0 and at most 1", "a decay of %g", decay)
	}
	s := SubsequenceTables{X: []rune(x), Z: []rune(z), K: k, Decay: decay}
	entries := float64(len(s.X)) * float64(len(s.Z)) * float64(2*k-1)
	if entries > maxSubsequenceEntries {
		return nil, param.Refuse("use shorter strings or a smaller k", "tables of %.0f entries exceed the limit of %d in a replay", entries, maxSubsequenceEntries)
	}
	return trace.Record(ctx, int(entries), func(yield func(SubsequenceTables) bool) trace.Status {
		for yield(s) {
			if len(s.filled) == int(entries) {
				return trace.Converged
			}
			var v float64
			terms, constant := s.Terms(s.place(len(s.filled)))
			for _, t := range terms {
				v += t.Factor * t.Value
			}
			s.filled = append(s.filled, v+constant) // the entries of earlier states are unchanged
		}
		return trace.IterationLimit
	}), nil
}

// place returns the table, row and column of the n-th entry.
func (s SubsequenceTables) place(n int) (table, i, j int) {
	size := len(s.X) * len(s.Z)
	return n / size, n % size / len(s.Z), n % len(s.Z)
}

// Tables returns the number of tables.
func (s SubsequenceTables) Tables() int { return 2*s.K - 1 }

// Level returns the p of A_p or B_p for a table, and whether it is an A.
func (s SubsequenceTables) Level(table int) (p int, isA bool) { return table/2 + 1, table%2 == 0 }

// At returns an entry, or false if it is not filled yet. Entries before the first row or column
// are 0.
func (s SubsequenceTables) At(table, i, j int) (v float64, ok bool) {
	if i < 0 || j < 0 {
		return 0, true
	}
	n := (table*len(s.X)+i)*len(s.Z) + j
	if n >= len(s.filled) {
		return 0, false
	}
	return s.filled[n], true
}

// Last returns the position of the entry filled last. ok is false if there is none.
func (s SubsequenceTables) Last() (table, i, j int, ok bool) {
	if len(s.filled) == 0 {
		return 0, 0, 0, false
	}
	table, i, j = s.place(len(s.filled) - 1)
	return table, i, j, true
}

// Terms returns the summands of an entry and a constant, which is 1 for matching symbols in A_1.
func (s SubsequenceTables) Terms(table, i, j int) (terms []SubsequenceTerm, constant float64) {
	add := func(factor float64, table, i, j int) {
		v, _ := s.At(table, i, j)
		terms = append(terms, SubsequenceTerm{factor, table, i, j, v})
	}
	_, isA := s.Level(table)
	switch match := s.X[i] == s.Z[j]; {
	case !isA:
		add(1, table-1, i, j)
		add(s.Decay, table, i-1, j)
		add(s.Decay, table, i, j-1)
		add(-s.Decay*s.Decay, table, i-1, j-1)
	case match && table == 0:
		constant = 1
	case match:
		add(1, table-1, i-1, j-1)
	}
	return terms, constant
}

// Sum returns the sum of the entries of A_k so far: at the end the kernel of x and z.
func (s SubsequenceTables) Sum() (sum float64) {
	size := len(s.X) * len(s.Z)
	for _, v := range s.filled[min(len(s.filled), (s.Tables()-1)*size):] {
		sum += v
	}
	return sum
}
