package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

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
		if err := p.take(d, limit, alike); err != nil {
			return false, err
		}
	}
	// If K is nearly diagonal, most weights differ from zero: begin with the function that interpolates
	// at all points that are not close to others.
	if had == 0 && 8*len(p.in)*len(p.in) <= cacheBytes && p.diagonal(p.used) {
		if err := p.take(d, len(p.in), nearby); err != nil {
			return false, err
		}
		d.setBasis(2, p.used)
	}
	return len(p.used) > had, nil
}

// diagonal reports whether in most of the given rows of K the other elements sum to at most twice the
// diagonal one.
func (p *sparse) diagonal(rows []int) bool {
	dominated := 0
	for _, j := range rows {
		if row, err := p.rows.row(j); err == nil && floats.Norm(row, 1) <= 3*p.size(j) {
			dominated++
		}
	}
	return 2*dominated > len(rows)
}

// take makes the best unused columns features, until there are limit of them, each with a squared cosine
// with those before it of at most alike.
func (p *sparse) take(d *dual, limit int, alike float64) error {
	clear(p.like)
	for len(p.used) < limit {
		j := p.steepest(alike)
		if j < 0 {
			break
		}
		row, err := p.rows.row(j)
		if err != nil {
			return err
		}
		d.addFeature(row)
		p.used, p.in[j] = append(p.used, j), true
		if !p.seen[j] {
			p.seen[j] = true
			p.all++
		}
		size := p.size(j)
		for i, v := range row {
			p.like[i] = max(p.like[i], v*v/size)
		}
	}
	return nil
}

// steepest returns the unused column with the largest gain for its size among those not similar to
// the ones just taken, or -1.
func (p *sparse) steepest(alike float64) int {
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
	most   = 8   // initial number of columns added at a time
	alike  = 0.1 // squared cosine in feature space above which columns are similar
	nearby = 0.5 // the same, between points at which one function interpolates
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
// the ranges no more than needed, and relaxes them if it overshot.
func (p *sparse) refine(d *dual) {
	inside, excess := p.rho-d.rho, floats.Norm(p.kyv, math.Inf(1))-p.rho
	switch {
	case !p.tightened:
		p.tightened = true
		return
	case excess > 0:
		inside += 1.5 * excess
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
