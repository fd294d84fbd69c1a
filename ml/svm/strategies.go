package svm

import "math"

// Steps on pairs, with rows computed as they are asked for, solve every problem; all else
// saves time. This file names what there is, when it is used, and at what thresholds.
//
// What a matrix can do, found by its methods (matrix.go); a bare matrix has none of it:
//
//	single    Row32         rows in single precision: half the memory to wait for
//	subset    Subset        rows of some points only, when the others have settled
//	product   AddProduct    the gradient afresh, without rows in between, on all processors
//	          AddProduct32  the same in single precision, where that is what the rows have
//	merge     Merged        fewer points that stand for all
//
// What the solver does, each to be turned off by a field of without:
//
//	single    steps on rows in single precision, as long as their rounding is below tol
//	parts     settled points are set aside (smo.go)
//	sample    many active points: first steps on one in four of them (smo.go)
//	doubt     then on those that the bias found by these leaves in doubt (smo.go)
//	coarse    many points: the start is the solution for merged ones (coarse.go)
//	path      large C: from the solutions for smaller ones (path.go)
//	newton    nearly flat directions: a Newton step on the free points (newton.go)
//	near      too many free points for that: neighbourhoods, one after the other (near.go)
//
// Milliseconds on two cores of an AMD EPYC with AVX-512, in use by others, for the moons of
// BenchmarkStrategies (two runs each: below a factor of two is noise).
//
//	n, gamma, C             1000,1,10 1000,1,1e4   4000,1,1 4000,10,100
//	all of them                   2.2       29.8       18.0      108.9
//	without single                1.7       25.5        5.8      128.7
//	without parts                 1.8      163.7        8.3      705.1
//	without sample                1.6       46.3       12.6      194.5
//	without coarse                1.6       58.4        8.0       96.6
//	without path                  1.6      151.0        7.7       95.2
//	without newton                1.7      980.3        8.7      375.5
//	without near                  1.5       19.6        9.3      146.3
//	none of them                  1.4     2600.7        7.4     1961.5
//	without Row32                 2.8       64.3        6.6      136.3
//	without Subset                1.7       93.7        6.8      105.1
//	without AddProduct            1.7       56.9        8.6      115.6
//	without Merged                2.1       22.6       13.5      126.1
//	without any method            3.4       50.5       24.0      149.1
//
// near pays only where more than newtonFree points are free, and single where the rows are
// read from memory far more often than computed: neither is the case above.
//
// What one threshold does, at half of it, as it is, and at double: steps in thousands,
// kernel values in millions, those of products included, multiplications of Newton steps
// in millions, and milliseconds of processor time, measured on a busy machine (below a
// third they say nothing). The problems are n, gamma, C of the moons above, of points with
// labels at random (noise, see near_test.go, where near takes part), and of the blobs of
// ml/bench; held out is HeldOut for C of 0.01 to 10000 on 1000 moons, gamma 100. Double of
// partOf is all points; grow is the 3 in its condition for a Newton step, here 1, 3
// and 6.
//
//	                                           steps          values      Newton             ms
//	singleFrom 500     800,1,10            0.6   0.6   0.6    0.3   0.3   0.3    0.0   0.0   0.0    1.0   0.7   1.0
//	batch 1000         1000,1,10000         25    30    51    2.1   2.3   2.2    3.9   3.4   3.8     24    24    26
//	partSteps 20       blobs 10000,1,100   169   175   194    274   275   278   2303  2520  2400    709   692   703
//	partOf 1/2         4000,10,100          45    47   110     24    24    61    278   296    68    126   137   152
//	sampleFrom 2000    4000,10,100          46    47    44     26    24    23    298   296   226    103   105   131
//	sampleOf 4         4000,10,100          73    47    44     27    24    24    306   296   300    155   110   111
//	coarseFrom 2000    3000,1,100           12   9.7    11    7.5   8.2   7.0    0.3   0.3   0.3     25    19    18
//	coarseSize 4       10000,1,100          31    34    38    100    65    73     24   5.6   5.2    125   107   126
//	coarseApart 0.02   10000,10,100        120   122   122    155   226   226   3820  3645  3645    578   635   600
//	coarseTol 0.3      10000,1,100          36    34    37     76    65    98    4.0   5.6    30    100    96   107
//	pathStart 10       1000,1,10000         31    30    30    2.1   2.3   2.3    3.5   3.4   3.4     27    32    27
//	pathFactor 10      1000,1,10000         37    30    28    2.8   2.3   2.0    3.2   3.4   3.9     32    30    22
//	pathTol 0.01       1000,1,10000         33    30    33    2.3   2.3   2.4    3.6   3.4   3.5     30    23    24
//	newtonRho 0.3      4000,10,100          79    47    58     24    24    25    230   296   332    144   118   177
//	farLess 10         4000,10,100          44    47    47     24    24    24    240   296   296     94   109   104
//	grow 3             held out            6.4   6.4   6.0    3.6   3.6   3.6    241   158   140     31    28    23
//	newtonFree 1500    noise 4500,300,100    78    69    85    142   121    82   2160  2117  1601    397   313   376
//	nearSize 2000      noise 4500,300,100    79    69    83    100   121   126   1907  2117  1814    249   391   397
//	nearApart 0.2      noise 4500,300,100    85    69    69     82   121   121   1601  2117  2117    265   343   360
//	nearPrice 4        noise 4500,300,100    66    69    92    114   121   136   1871  2117  1362    372   328   404
//
// That was before doubt, which lowers processor time by a sixth on five classes of 2000
// points one against one (d = 2, C = 1, gamma = 0.5), and before partGain and the 40 of
// newtonSteps. Seconds on five such classes (d = 10, C = 100, gamma = 0.1): 1.20, 1.27 and
// 1.48 with 20, 40 and 80; on blobs 10000,10,100: 3.5, 2.5 and 3.0 with 20, 50 and 150.
//
// And it was before newtonLook: a Newton step then waited for four steps on pairs for each
// point, at least. Milliseconds of HeldOut for 7 C and 7 gamma of 0.01 to 10000, 5 folds, 1000
// points, then and with newtonLook (least of two for each cell, in turn, processor time): moons
// 323 and 261, chess 457 and 333, blobs 684 and 556; of 300 moons, gamma 1, C 100: 0.79 and 0.39.
//
// One step more or less changes all that follow, so that counts within a tenth are alike,
// and most thresholds could as well be half or double. Those that made no difference at
// all on these problems are gone.
//
// without says which of the solver's strategies are off.
type without struct{ single, parts, sample, doubt, coarse, path, newton, near bool }

// Rows in single precision: with fewer points the rows of all fit a cache, and there is
// nothing to wait for.
const singleFrom = 500

// single tells whether rows in single precision do: when there are so many points
// that memory is what steps wait for, and when the rounding of a value, times C,
// is far below tol.
func single(o *state, s Settings) bool {
	return !s.without.single && singleSuits(o.m, o.size) && s.C*o.size*0x1p-24 <= s.Tol/100
}

// singleSuits tells whether single does for some C; most is max |K_ii|.
func singleSuits(m int, most float64) bool { return m >= singleFrom && most < 1e30 }

// Parts: a round makes so many steps before it looks for points that have settled, and a
// part so many for each of its points before the others are looked at. A part of all active
// points leaves this share of the violation: to look at the others costs as much as
// thousands of steps on it.
const (
	batch     = 1000
	partSteps = 20
	partGain  = 100
)

// partOf is how many of m points may be active for a part to pay: its rows are computed
// anew, shorter.
func partOf(m int) int { return m / 2 }

// Samples: with many points the violation is a smooth function of where they lie, so
// that the steps on some, one of sampleOf, lower it for all.
const (
	sampleFrom = 2000
	sampleOf   = 4
)

// Merged points.
const (
	coarseFrom  = 2000 // points
	coarseSize  = 4    // points merged into one
	coarseApart = 0.02 // how far they may be apart, see kernel.Gram.Merged
	coarseTol   = 0.3  // stopping rule for merged points
)

// The path along C.
const (
	pathStart  = 10   // first C, in units of 1 / mean K_ii
	pathFactor = 10   // from one C to the next
	pathTol    = 1e-2 // stopping rule before the last C
)

// Newton steps.
const (
	newtonFree  = 1500 // free points for which the factorisation is affordable
	newtonRho   = 0.3  // rho, in units of the violation / largest alpha
	newtonLook  = 50   // steps on pairs that take about as long as a Newton step on few points
	newtonDoubt = 2    // doublings before the first, as pairs are quick at the beginning
)

// newtonPrice is the number of steps on pairs to make before a Newton step on so many free
// points: as many as take about as long as it does, a row for each of them included, which is
// little where few are free. For a hard margin it is four for each point at least: sooner, some
// took far less time and others far more.
func (o *state) newtonPrice(free int) int {
	price := newtonLook + free + newtonSteps(free, o.m)
	if math.IsInf(o.c, 1) {
		price = max(4*o.m, newtonSteps(free, o.m))
	}
	return price << o.doublings
}

// newtonSteps is the number of steps on pairs that take about as long as the factorisation of a
// Newton step.
func newtonSteps(free, m int) int { return free * free / 40 * free / m }

// doublings is how often to double the price of the next Newton step, after one that
// gained so much when the pairs before it, in 2^now times its time, had gained so much.
// Only Newton steps that gain far less than pairs get dearer: what they gain is what
// pairs are slow at.
func doublings(now int, gain, pairs float64) int {
	const farLess = 10
	if gain*float64(int(1)<<now) < pairs/farLess {
		return now + 1
	}
	return 0
}

// Neighbourhoods.
const (
	nearSize  = 2000 // points of a neighbourhood
	nearApart = 0.2  // how far apart the nearest may be, see kernel.Gram.Merged
)

// nearPrice is the number of steps on pairs of m points to make before a turn.
func nearPrice(m int) int { return m / 4 }
