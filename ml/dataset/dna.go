package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// bases are the letters of DNA.
const bases = "ACGT"

// dnaGenerator generates sequences of equally likely letters in which the motif of their class
// occurs more often than by chance. The label is the motif.
var dnaGenerator = Generator{
	Name: "dna", Label: "DNA with motifs", Kind: KindStrings,
	Help: "Random sequences of A, C, G and T. Each class has a motif, a short word planted in its sequences, which is also their label.",
	Params: []param.Param{
		{
			Name: "n", Label: "strings", Symbol: "n", Kind: param.Integer, Default: "100",
			Min: 2, Max: 10_000, Low: 10, High: 1000, Log: true,
			Help: "Number of sequences, split evenly between classes.",
		},
		{
			Name: "length", Label: "length", Kind: param.Integer, Default: "60",
			Min: 3, Max: 1000, Low: 20, High: 200, Log: true,
			Help: "Number of letters in a sequence.",
		},
		{
			Name: "classes", Label: "classes", Kind: param.Integer, Default: "2",
			Min: 2, Max: 6, Low: 2, High: 6, Folded: true,
			Help: "Number of motifs; any two differ in at least half of their letters.",
		},
		{
			Name: "motif", Label: "length of a motif", Kind: param.Integer, Default: "6",
			Min: 3, Max: 20, Low: 3, High: 12, Folded: true,
			Help: "Number of letters in the planted word.",
		},
		{
			Name: "copies", Label: "copies", Kind: param.Integer, Default: "2",
			Min: 1, Max: 20, Low: 1, High: 5, Folded: true,
			Help: "Number of times the motif occurs in a sequence; copies do not overlap.",
		},
		{
			Name: "noise", Label: "mutations", Kind: param.Number, Default: "0.1",
			Min: 0, Max: 1, Low: 0, High: 0.5,
			Help: "Probability that a planted letter is replaced by another; 0.75 erases the motif.",
		},
		{
			Name: "share", Label: "share", Kind: param.Number, Default: "1",
			Min: 0, Max: 1, Low: 0.5, High: 1, Folded: true,
			Help: "Probability that a sequence contains the motif of its class.",
		},
		folded(seedParam),
	},
	draw: drawDNA,
}

func drawDNA(values param.Values) (*Data, error) {
	length, motif, copies := values.Int("length"), values.Int("motif"), values.Int("copies")
	if motif*copies > length {
		return nil, param.Problems{{Field: "length", Message: fmt.Sprintf("length must be at least %d for %d copies of a motif of %d letters, not %d", motif*copies, copies, motif, length)}}
	}
	rng := random(values)
	motifs := drawMotifs(rng, values.Int("classes"), motif)
	s := &Strings{Name: "sequence", Values: make([]string, values.Int("n"))}
	labels := make([]string, len(s.Values))
	for i := range s.Values {
		labels[i] = motifs[i%len(motifs)]
		sequence := drawLetters(rng, length)
		planted := rng.Float64() < values.Number("share")
		for c := range copies { // each in its own part of the sequence
			from, to := c*length/copies, (c+1)*length/copies
			place := sequence[from+rng.IntN(to-from-motif+1):]
			for j := range motif {
				b := labels[i][j]
				if other := drawOther(rng, b); rng.Float64() < values.Number("noise") {
					b = other
				}
				if planted {
					place[j] = b
				}
			}
		}
		s.Values[i] = string(sequence)
	}
	d := &Data{Objects: s, Label: "motif"}
	d.setLabels(labels)
	return d, nil
}

// drawMotifs draws words that pairwise differ in at least half of their letters. A motif excludes
// at most ten of 64 words, so that six are found quickly.
func drawMotifs(rng *rand.Rand, classes, length int) []string {
	var motifs []string
	for len(motifs) < classes {
		word := string(drawLetters(rng, length))
		near := func(m string) bool {
			return 2*len(lists.Where(length, func(j int) bool { return word[j] != m[j] })) < length
		}
		if !slices.ContainsFunc(motifs, near) {
			motifs = append(motifs, word)
		}
	}
	return motifs
}

func drawLetters(rng *rand.Rand, n int) []byte {
	return lists.Make(n, func(int) byte { return bases[rng.IntN(len(bases))] })
}

// drawOther draws a letter that is not b.
func drawOther(rng *rand.Rand, b byte) byte {
	o := bases[rng.IntN(len(bases)-1)]
	if o == b {
		o = bases[len(bases)-1]
	}
	return o
}
