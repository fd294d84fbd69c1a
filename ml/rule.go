package ml

// Rule names a way from the scores of a model's machines to its answer.
type Rule string

// The rules.
const (
	Sign      Rule = "sign"   // one machine between two classes
	OneVsRest Rule = "ovr"    // a machine for every class against all the others
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

	least    int                // classes
	machines func(k int) int    // how many there are for k classes
	sides    func(k int) []side // the classes that each of them separates
	class    func(k int, scores []float64) int
}

// side tells the class where a machine's f >= 0 from the one where it is below.
type side struct{ positive, negative int }

// nobody stands for no class in particular: all the others, or a number.
const nobody = -1

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
		Name: OneVsRest, Label: "one against the rest", Help: "The class whose machine has the largest f(x), also where none or several are positive.",
		least: 2, machines: func(k int) int { return k }, sides: each, class: largest,
	},
	{
		Name: OneVsOne, Label: "one against one", Help: "Every pair of classes votes; among those with most votes, the one with the largest sum of its margins.",
		least: 2, machines: func(k int) int { return k * (k - 1) / 2 }, sides: pairs, class: mostVotes,
	},
	{
		Name: Argmax, Label: "largest", Help: "The class with the largest f(x), of functions that were trained together.",
		least: 2, machines: func(k int) int { return k }, sides: each, class: largest,
	},
	{
		Name: Value, Label: "value", Help: "f(x) itself is the answer: regression.",
		machines: func(int) int { return 1 },
		sides:    func(int) []side { return []side{{nobody, nobody}} },
		class:    func(int, []float64) int { return nobody },
	},
}

// entry is the rule's entry of Rules, nil for a rule that is not known.
func (r Rule) entry() *RuleEntry {
	for i := range Rules { // no copies: pictures ask for every pixel
		if Rules[i].Name == r {
			return &Rules[i]
		}
	}
	return nil
}

// each is a machine for every class.
func each(k int) (s []side) {
	for i := range k {
		s = append(s, side{i, nobody})
	}
	return s
}

// pairs are (0, 1), (0, 2), …, (1, 2), …; the later class is the positive one, as
// under Sign.
func pairs(k int) (s []side) {
	for i := range k {
		for j := i + 1; j < k; j++ {
			s = append(s, side{j, i})
		}
	}
	return s
}

// largest is the first class with the largest score.
func largest(_ int, scores []float64) (best int) {
	for i, f := range scores {
		if f > scores[best] {
			best = i
		}
	}
	return best
}

// Votes counts what the machines of all pairs of k classes say, with their scores in the
// order of OneVsOne: the votes for every class, and the sum of its margins, which are ±f
// of the pairs it is in, positive on its side.
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

// mostVotes is the class with most votes, of several the one with the largest sum of
// margins.
func mostVotes(k int, scores []float64) (best int) {
	votes, margins := Votes(k, scores)
	for i := range k {
		if votes[i] > votes[best] || votes[i] == votes[best] && margins[i] > margins[best] {
			best = i
		}
	}
	return best
}
