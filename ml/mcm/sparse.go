package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
)

// sparse is the span of the columns of K. Column j becomes a feature when it prices out: when
// |K(y v)|_j > rho, so that it can lower the objective.
type sparse struct {
	k         Matrix
	rho       float64
	rows      rowCache
	used      []int     // column of each feature
	in        []bool    // whether a column is a feature
	seen      []bool    // whether a column has ever been a feature
	all       int       // number of columns seen
	tried     bool      // whether to begin with many features from the interpolant
	tightened bool      // the tolerances have been tightened for another attempt
	yv        []float64 // y v at the last pricing
	kyv       []float64 // K (y v)
	last      float64   // objective at the last pricing that dropped features
	like      []float64 // squared cosine with the columns just taken, times K_jj
}

func newSparse(k Matrix, rho float64) *sparse {
	m := k.Len()
	return &sparse{
		k: k, rho: rho,
		rows: rowCache{k: k, rows: make([][]float64, m), scratch: make([]float64, m)},
		in:   make([]bool, m), seen: make([]bool, m),
		yv: make([]float64, m), kyv: make([]float64, m), last: math.Inf(1),
		like: make([]float64, m),
	}
}

func (p *sparse) resume() { p.tightened, p.last = false, math.Inf(1) }

func (p *sparse) grow(ctx context.Context, d *dual) (bool, error) {
	if err := p.price(ctx, d.point(), d.y); err != nil {
		return false, err
	}
	// Drop features without weight as long as the objective falls: then no set of features
	// recurs.
	if obj := -d.objective(); obj < p.last-1e-12*math.Abs(obj) {
		p.last = obj
		for f := len(p.used) - 1; f >= 0; f-- {
			if d.idle(f) {
				p.in[p.used[f]] = false
				d.dropFeature(f)
				end := len(p.used) - 1
				p.used[f] = p.used[end]
				p.used = p.used[:end]
			}
		}
	}

	// Take the best columns, first of all those that are not similar to others taken, since a similar
	// column adds little. With a linear term on unscaled features all are similar.
	had, limit := len(p.used), len(p.used)+most+len(p.used)/4
	for before := -1; len(p.used) > before; {
		before = len(p.used)
		if err := p.take(d, limit); err != nil {
			return false, err
		}
	}
	// If nearly all weights differ from zero, begin again with the function that equals the labels: if K is nearly
	// diagonal and that function is better than the bias alone, or if it is far better than the best of many features.
	better := 0.0
	switch m := len(p.in); {
	case 8*m*m > cacheBytes:
	case had == 0 && p.diagonal():
		better = 1
	case !p.tried && len(p.used) > m/4:
		better, p.tried = 3, true
	}
	if better > 0 {
		points, obj, err := p.interpolant(ctx, d)
		if err != nil {
			return false, err
		}
		if better*obj < 1-d.objective() {
			d.reserve(len(points) - len(p.used))
			for _, j := range points[len(p.used):] {
				if err := p.add(d, j); err != nil {
					return false, err
				}
			}
			d.setBasis(2, p.used)
		}
	}
	return len(p.used) > had, nil
}

// diagonal reports whether most columns, of a sample of them, price out and have other elements that sum to at
// most twice the diagonal one.
func (p *sparse) diagonal() bool {
	const sample = 16
	columns, dominated := 0, 0
	for j := 0; j < len(p.in); j += 1 + len(p.in)/sample {
		columns++
		if math.Abs(p.kyv[j]) <= p.rho {
			continue
		}
		if column, err := p.rows.row(j); err == nil && floats.Norm(column, 1) <= 3*p.size(j) {
			dominated++
		}
	}
	return 3*dominated > 2*columns
}

// interpolant returns the objective of the function with b = 0 that equals the labels at all points
// but copies of others, with these points, those of the features first. The objective is infinite
// if K is not positive definite there.
func (p *sparse) interpolant(ctx context.Context, d *dual) (points []int, obj float64, err error) {
	points = slices.Clone(p.used)
	clear(p.like)
	for _, j := range points {
		if _, err := p.column(j); err != nil {
			return nil, 0, err
		}
	}
	for j := range p.in {
		if !p.in[j] && p.like[j] <= same*p.size(j) {
			if _, err := p.column(j); err != nil {
				return nil, 0, err
			}
			points = append(points, j)
		}
	}
	k := general(len(points), len(points))
	for a, i := range points {
		for b, j := range points[a:] {
			k.Data[a*k.Stride+a+b] = p.rows.rows[i][j]
		}
	}
	if definite, err := dense.Cholesky(ctx, k); !definite || err != nil {
		return nil, math.Inf(1), err
	}
	weights := lists.At(d.y, points)
	dense.Solve(k, weights)
	f := make([]float64, len(p.in))
	for a, j := range points {
		floats.AddScaled(f, weights[a], p.rows.rows[j])
	}
	_, _, obj = objective(f, d.y, floats.Norm(weights, 1), 1, Settings{C: d.up[0], Rho: p.rho})
	return points, obj, nil
}

// column returns column j of K and notes how similar the columns are to it.
func (p *sparse) column(j int) ([]float64, error) {
	row, err := p.rows.row(j)
	if err != nil {
		return nil, err
	}
	size := p.size(j)
	for i, v := range row {
		p.like[i] = max(p.like[i], v*v/size)
	}
	return row, nil
}

// add makes column j a feature and notes how similar the columns are to it.
func (p *sparse) add(d *dual, j int) error {
	row, err := p.column(j)
	if err != nil {
		return err
	}
	d.addFeature(row)
	p.used, p.in[j] = append(p.used, j), true
	if !p.seen[j] {
		p.seen[j] = true
		p.all++
	}
	return nil
}

// take makes the best unused columns features, until there are limit of them, each with a squared cosine
// with those before it of at most alike.
func (p *sparse) take(d *dual, limit int) error {
	clear(p.like)
	for len(p.used) < limit {
		j := p.steepest()
		if j < 0 {
			break
		}
		if err := p.add(d, j); err != nil {
			return err
		}
	}
	return nil
}

// steepest returns the unused column with the largest gain for its size among those not similar to
// the ones just taken, or -1.
func (p *sparse) steepest() int {
	best, score := -1, 0.0
	for j, x := range p.kyv {
		over := math.Abs(x) - p.rho*(1+1e-10)
		if over <= 0 || p.in[j] {
			continue
		}
		size := p.size(j)
		if over > score*math.Sqrt(size) && p.like[j] <= alike*size {
			best, score = j, over/math.Sqrt(size)
		}
	}
	return best
}

// size returns |K_jj|, the squared length of x_j in feature space, at least 1e-300.
func (p *sparse) size(j int) float64 { return max(math.Abs(p.k.Diag(j)), 1e-300) }

const (
	most  = 8        // initial number of columns added at a time
	alike = 0.1      // squared cosine in feature space above which columns are similar
	same  = 1 - 1e-8 // the same, of copies but for rounding
)

// price updates K(y v) for a new v, using the rows of points whose v changed.
func (p *sparse) price(ctx context.Context, v, y []float64) error {
	for i := range v {
		w := y[i] * v[i]
		if w == p.yv[i] {
			continue
		}
		if err := pace.Look(ctx); err != nil {
			return err
		}
		row, err := p.rows.row(i)
		if err != nil {
			return err
		}
		floats.AddScaled(p.kyv, w-p.yv[i], row)
		p.yv[i] = w
	}
	return nil
}

func (p *sparse) coefficients(weights []float64) []float64 {
	lambda := make([]float64, len(p.in))
	for f, j := range p.used {
		lambda[j] = weights[f]
	}
	return lambda
}

func (p *sparse) rank() int { return p.all }

func (p *sparse) defect(ctx context.Context, v []float64, _ *Result, d *dual) (factor, residual float64) {
	clear(p.yv) // anew, without accumulated rounding errors
	clear(p.kyv)
	if p.price(ctx, v, d.y) != nil {
		return 1, 0
	}
	_, b := d.weights()
	return min(1, p.rho/floats.Norm(p.kyv, math.Inf(1))), math.Abs(b * floats.Sum(p.yv))
}

// refine tightens the tolerances in the first attempt. If rounding still violates some ranges, it
// then shrinks all ranges slightly. That costs sum |lambda| times the change, which for a large C
// also enters the gap, while shrinking all of v costs sum v / rho times the change. So it shrinks
// the ranges no more than needed, faster each time as the sums change only by steps of their rounding,
// and relaxes them if it overshot.
func (p *sparse) refine(d *dual) {
	inside, excess := p.rho-d.rho, floats.Norm(p.kyv, math.Inf(1))-p.rho
	switch {
	case !p.tightened:
		p.tightened = true
		return
	case excess > 0:
		inside = 2*inside + 1.5*excess
	default:
		inside /= 4
	}
	d.setRho(p.rho - min(inside, p.rho/2))
}

// rowCache keeps rows of a matrix within a memory limit.
type rowCache struct {
	k       Matrix
	rows    [][]float64
	held    int
	scratch []float64
}

const cacheBytes = 256 << 20

// row returns row i; it is valid until the next call.
func (c *rowCache) row(i int) ([]float64, error) {
	if row := c.rows[i]; row != nil {
		return row, nil
	}
	row := c.scratch
	if 8*(c.held+1)*len(row) <= cacheBytes {
		row = make([]float64, len(row))
		c.rows[i] = row
		c.held++
	}
	c.k.Row(row, i)
	return row, finite(row, i)
}
