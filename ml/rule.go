package ml

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
)

// Rule names the way in which the scores of a model's machines determine its prediction.
type Rule string

// The rules.
const (
	Sign      Rule = "sign"   // one machine for two classes
	OneVsRest Rule = "ovr"    // a machine for every class against all others
	OneVsOne  Rule = "ovo"    // a machine for every pair of classes
	Argmax    Rule = "argmax" // a function for every class, trained together
	Value     Rule = "value"  // regression: the score itself, no class
)

// RuleEntry is one entry of the table of rules. Classes are numbered in the order of
// Model.Classes.
type RuleEntry struct {
	Name  Rule
	Label string
	Help  string

	least    int                // smallest number of classes
	machines func(k int) int    // number of machines for k classes
	sides    func(k int) []side // classes that each machine separates
	class    func(k int, scores []float64) int
}

// side holds the classes of f >= 0 and of f < 0.
type side struct{ positive, negative int }

// noClass stands for all other classes in a side, and for a number in place of a class.
const noClass = -1

// Rules lists the rules.
var Rules = []RuleEntry{
	{
		Name: Sign, Label: "sign", Help: "The second class where f(x) ≥ 0, the first elsewhere.",
		least: 2, machines: func(int) int { return 1 },
		sides: func(int) []side { return []side{{1, 0}} },
		class: func(_ int, scores []float64) int {
			if scores[0] >= 0 {
				return 1
			}
			return 0
		},
	},
	{
		Name: OneVsRest, Label: "one-vs-rest", Help: "The class whose machine has the largest f(x), even if none or several are positive; ties go to the first.",
		least: 2, machines: func(k int) int { return k }, sides: each, class: largest,
	},
	{
		Name: OneVsOne, Label: "one-vs-one", Help: "Every pair of classes votes; ties go to the class with the largest sum of margins.",
		least: 2, machines: func(k int) int { return k * (k - 1) / 2 }, sides: pairs, class: mostVotes,
	},
	{
		Name: Argmax, Label: "largest", Help: "The class with the largest f(x); all functions were trained together.",
		least: 2, machines: func(k int) int { return k }, sides: each, class: largest,
	},
	{
		Name: Value, Label: "value", Help: "f(x) itself: regression.",
		machines: func(int) int { return 1 },
		sides:    func(int) []side { return []side{{noClass, noClass}} },
		class:    func(int, []float64) int { return noClass },
	},
}

// entry returns the rule's entry in Rules, nil if unknown.
func (r Rule) entry() *RuleEntry {
	for i := range Rules { // without copying: called for every pixel
		if Rules[i].Name == r {
			return &Rules[i]
		}
	}
	return nil
}

// each returns the sides of a machine for every class.
func each(k int) []side {
	return lists.Make(k, func(i int) side { return side{i, noClass} })
}

// pairs returns the sides for the pairs (0, 1), (0, 2), …, (1, 2), … in which the later class is
// positive, as under Sign.
func pairs(k int) (s []side) {
	for i := range k {
		for j := i + 1; j < k; j++ {
			s = append(s, side{j, i})
		}
	}
	return s
}

// tie is the difference, relative to the largest in magnitude, below which scores, or sums of margins,
// count as equal because rounding could reverse them. The first class in order then wins, on every
// processor and for every order of summation. It serves where, unlike for Noise, only the scores are known.
const tie = 1.0 / (1 << 32)

// Noise is the size of a difference, relative to the sum of the magnitudes of the terms that cancel in
// it, below which it counts as 0: a generous bound of rounding errors, for any order of summation.
// Exported models have the same bound.
const Noise = 1.0 / (1 << 44)

// level makes ties but for rounding exact: a vote counts as f = 0, scores near the largest equal it.
// sizes holds the sum of the magnitudes of the terms of every score.
func (r Rule) level(scores, sizes []float64) {
	switch r {
	case Value:
	case Sign, OneVsOne:
		for k, f := range scores {
			if math.Abs(f) < Noise*sizes[k] {
				scores[k] = 0
			}
		}
	default:
		largest, by := slices.Max(scores), Noise*slices.Max(sizes)
		for k, f := range scores {
			if f > largest-by {
				scores[k] = largest
			}
		}
	}
}

// largest returns the class with the largest score, the first among ties.
func largest(_ int, scores []float64) int {
	least := slices.Max(scores) - tie*floats.Norm(scores, math.Inf(1))
	return max(0, slices.IndexFunc(scores, func(f float64) bool { return f >= least }))
}

// Votes returns the votes for every class and the sum of its margins, ±f of its pairs with + for its
// side, from the scores of all pairs of k classes in the order of OneVsOne.
func Votes(k int, scores []float64) (votes []int, margins []float64) {
	votes, margins = make([]int, k), make([]float64, k)
	p := 0
	for i := range k {
		for j := i + 1; j < k; j++ {
			f := scores[p]
			p++
			if f >= 0 {
				votes[j]++
			} else {
				votes[i]++
			}
			margins[j] += f
			margins[i] -= f
		}
	}
	return votes, margins
}

// mostVotes returns the class with the most votes, then the largest sum of margins, then the
// first in order.
func mostVotes(k int, scores []float64) int {
	votes, margins := Votes(k, scores)
	most, lead := slices.Max(votes), math.Inf(-1)
	for i, v := range votes {
		if v == most {
			lead = max(lead, margins[i])
		}
	}
	lead -= tie * floats.Norm(margins, math.Inf(1))
	for i, v := range votes {
		if v == most && margins[i] >= lead {
			return i
		}
	}
	return 0 // scores are NaN
}

// settled reports whether the prediction for a row of class right cannot change if each of its scores
// changes by up to by: for 0, whether nothing is tied, once level has made votes exact. With
// one-vs-one, the right class wins regardless of the scores of other pairs, which may be missing, if
// it wins all its pairs.
func (r Rule) settled(right, k int, scores []float64, by float64) bool {
	switch r {
	case Value:
		return true
	case Sign:
		return math.Abs(scores[0]) > by
	case OneVsOne:
		if right >= 0 && r.wins(right, k, scores, by) {
			return true
		}
		if slices.ContainsFunc(scores, func(f float64) bool { return math.Abs(f) <= by }) {
			return false
		}
		votes, margins := Votes(k, scores)
		best := mostVotes(k, scores)
		least := margins[best] - tie*floats.Norm(margins, math.Inf(1)) - 2*float64(k)*by
		for i := range k {
			if i != best && votes[i] == votes[best] && margins[i] >= least {
				return false
			}
		}
		return true
	default:
		first := largest(k, scores)
		least := scores[first] - tie*floats.Norm(scores, math.Inf(1)) - 3*by
		for i, f := range scores {
			if i != first && f >= least {
				return false
			}
		}
		return true
	}
}

// wins reports whether a class of k wins each of its pairs by more than by.
func (r Rule) wins(class, k int, scores []float64, by float64) bool {
	for p, s := range r.entry().sides(k) {
		if s.positive == class && scores[p] <= by || s.negative == class && -scores[p] <= by {
			return false
		}
	}
	return true
}
