package eval

import (
	"math/bits"

	"marginlab/ml/lists"
)

// direction defines one coordinate of a Sobol sequence: the coefficients of a primitive polynomial
// over the field of two elements, as bits, and the initial odd numbers m.
type direction struct {
	polynomial uint32
	m          []uint32
}

// directions holds the direction numbers of the first coordinates by Joe and Kuo: "Constructing Sobol
// sequences with better two-dimensional projections", SIAM Journal on Scientific Computing 30, 2008
// (list new-joe-kuo-6). The first coordinate, van der Corput's sequence, needs none.
var directions = []direction{
	{0b1, nil},
	{0b11, []uint32{1}},
	{0b111, []uint32{1, 3}},
	{0b1011, []uint32{1, 3, 1}},
	{0b1101, []uint32{1, 1, 1}},
	{0b10011, []uint32{1, 1, 3, 3}},
	{0b11001, []uint32{1, 3, 5, 13}},
	{0b100101, []uint32{1, 1, 5, 5, 17}},
	{0b101001, []uint32{1, 1, 5, 5, 5}},
	{0b101111, []uint32{1, 1, 7, 11, 19}},
	{0b110111, []uint32{1, 1, 5, 1, 1}},
	{0b111011, []uint32{1, 1, 1, 3, 11}},
	{0b111101, []uint32{1, 3, 5, 5, 31}},
	{0b1000011, []uint32{1, 3, 3, 9, 7, 49}},
	{0b1011011, []uint32{1, 1, 1, 15, 21, 21}},
	{0b1100001, []uint32{1, 3, 1, 13, 27, 49}},
}

// sobolBits is the number of bits of a coordinate; the sequence has 2^sobolBits points.
const sobolBits = 32

// numbers returns the direction numbers: m as binary fractions, then the recurrence of the
// polynomial.
func (d direction) numbers() (v [sobolBits]uint32) {
	degree := bits.Len32(d.polynomial) - 1
	for i := range v {
		switch {
		case degree == 0:
			v[i] = 1 << (sobolBits - 1 - i)
		case i < degree:
			v[i] = d.m[i] << (sobolBits - 1 - i)
		default:
			v[i] = v[i-degree] ^ v[i-degree]>>degree
			for k := 1; k < degree; k++ {
				if d.polynomial>>(degree-k)&1 == 1 {
					v[i] ^= v[i-k]
				}
			}
		}
	}
	return v
}

// sobol returns the first points of the Sobol sequence in len(shift) <= len(directions) dimensions,
// in the order of the Gray code (Antonov, Saleev 1979), with a digital shift: each coordinate is
// combined with its shift by exclusive or, which keeps the points as evenly spread.
func sobol(points int, shift []uint32) [][]float64 {
	all := lists.Make(points, func(int) []float64 { return make([]float64, len(shift)) })
	for j, x := range shift {
		v := directions[j].numbers()
		for i := range all {
			all[i][j] = float64(x) / (1 << sobolBits)
			x ^= v[bits.TrailingZeros32(^uint32(i))]
		}
	}
	return all
}
