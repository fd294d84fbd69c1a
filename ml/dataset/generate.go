package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Generator makes point sets in the plane: features x1 and x2, classes -1 and 1 of
// equal size (but for one), taking turns.
//
// Point i is drawn from the seed alone, whatever n and the noise are: more points
// leave the first where they were, and a change of noise moves points smoothly.
type Generator struct {
	Name, Label, Help string
	Params            []param.Param // n, noise, seed

	// point draws a point of the class with this sign. It makes the same draws
	// whatever noise is.
	point func(rng *rand.Rand, sign, noise float64) (x1, x2 float64)
}

// Bounds of every generator.
const (
	maxPoints = 100_000
	maxNoise  = 2
)

// Generators lists them.
var Generators = []Generator{
	{
		Name: "blobs", Label: "blobs", Help: "Two round clouds; noise is the spread of each.",
		Params: generatorParams("0.6"), point: blobs,
	},
	{
		Name: "moons", Label: "moons", Help: "Two interleaved half circles; noise blurs them.",
		Params: generatorParams("0.15"), point: moons,
	},
	{
		Name: "circles", Label: "circles", Help: "A ring around a smaller ring; noise blurs them.",
		Params: generatorParams("0.1"), point: circles,
	},
	{
		Name: "xor", Label: "XOR", Help: "Four clouds, opposite corners of a square in one class; noise is the spread of each.",
		Params: generatorParams("0.4"), point: xor,
	},
	{
		Name: "spiral", Label: "spiral", Help: "Two arms wound one and a half times around each other; noise blurs them.",
		Params: generatorParams("0.08"), point: spiral,
	},
	{
		Name: "checkerboard", Label: "checkerboard", Help: "Four by four squares of alternating class; noise carries points across the edges.",
		Params: generatorParams("0.05"), point: checkerboard,
	},
	{
		Name: "separable", Label: "linearly separable", Help: "Two classes on either side of an empty strip of width 0.5; noise is the depth of each side and never closes the strip.",
		Params: generatorParams("0.8"), point: separable,
	},
}

func generatorParams(noise string) []param.Param {
	return []param.Param{
		{
			Name: "n", Label: "points", Symbol: "n", Kind: param.Integer, Default: "200",
			Min: 2, Max: maxPoints, Low: 10, High: 2000, Log: true,
			Help: "How many points to draw, half of them in each class.",
		},
		{
			Name: "noise", Label: "noise", Kind: param.Number, Default: noise,
			Min: 0, Max: maxNoise, Low: 0, High: 1,
			Help: "How far points stray from the pattern, as a standard deviation in the units of the axes.",
		},
		{
			Name: "seed", Label: "seed", Kind: param.Integer, Default: "1",
			Min: 0, Max: math.MaxInt32,
			Help: "Start of the random numbers: the same seed draws the same points.",
		},
	}
}

// FindGenerator returns the generator of that name.
func FindGenerator(name string) (Generator, bool) {
	for _, g := range Generators {
		if g.Name == name {
			return g, true
		}
	}
	return Generator{}, false
}

// Generate makes n points with the named generator: n from 2 to 100 000, noise from
// 0 to 2. What is wrong comes back as param.Problems with the fields generator, n
// and noise.
func Generate(name string, n int, noise float64, seed uint64) (*Data, error) {
	g, ok := FindGenerator(name)
	if !ok {
		names := make([]string, len(Generators))
		for i, g := range Generators {
			names[i] = g.Name
		}
		return nil, param.Problems{{Field: "generator", Message: fmt.Sprintf("no generator %s: expected one of %s", quote(name), list(names))}}
	}
	var problems param.Problems
	for _, v := range []struct {
		p    param.Param
		text string
	}{
		{g.Params[0], strconv.Itoa(n)},
		{g.Params[1], strconv.FormatFloat(noise, 'g', -1, 64)},
	} {
		if err := v.p.Check(v.text); err != nil {
			problems = append(problems, param.Problem{Field: v.p.Name, Message: err.Error()})
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return g.generate(n, noise, seed), nil
}

// generatorStream keeps these draws apart from others under the same seed.
const generatorStream = 0x9e4e7a

func (g Generator) generate(n int, noise float64, seed uint64) *Data {
	rng := rand.New(rand.NewPCG(seed, generatorStream))
	x := mat.NewDense(n, 2, nil)
	y := make([]int, n)
	for i := range n {
		y[i] = i % 2
		a, b := g.point(rng, float64(2*y[i]-1), noise)
		x.SetRow(i, []float64{a, b})
	}
	return &Data{Features: []string{"x1", "x2"}, Label: "label", X: x, Classes: []string{"-1", "1"}, Y: y}
}

func blobs(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	return sign + noise*rng.NormFloat64(), sign + noise*rng.NormFloat64()
}

func moons(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	sin, cos := math.Sincos(math.Pi * rng.Float64())
	if sign > 0 {
		x1, x2 = 1-cos, 0.5-sin
	} else {
		x1, x2 = cos, sin
	}
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func circles(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	r := 1.0
	if sign > 0 {
		r = 0.5
	}
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

func xor(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	x1, x2 = 1, sign // the class is the sign of x1 x2
	if rng.IntN(2) == 0 {
		x1, x2 = -x1, -x2
	}
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func spiral(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	// The square root spreads points evenly along the arm of radius 0.2 to 2.
	r := math.Sqrt(rng.Float64())
	sin, cos := math.Sincos(3 * math.Pi * r)
	r = sign * (0.2 + 1.8*r)
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

func checkerboard(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	column := rng.IntN(4)
	row := 2 * rng.IntN(2) // rows 0 and 2, or 1 and 3
	if (column%2 == 0) != (sign > 0) {
		row++
	}
	x1, x2 = float64(column-2)+rng.Float64(), float64(row-2)+rng.Float64()
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func separable(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	const normal1, normal2, gap = 0.6, 0.8, 0.25 // a unit normal; half the strip
	along := 4*rng.Float64() - 2
	across := sign * (gap + noise*math.Abs(rng.NormFloat64()))
	return across*normal1 - along*normal2, across*normal2 + along*normal1
}

// noise returns the default noise.
func (g Generator) noise() float64 {
	v, _ := strconv.ParseFloat(g.Params[1].Default, 64)
	return v
}
