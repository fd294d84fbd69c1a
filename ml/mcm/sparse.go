package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/pace"
)

// sparse is the span of the columns of K. They become features of the programme
// as they price out: column j lowers the objective when |K(y v)|_j > rho.
type sparse struct {
	k         Matrix
	rho       float64
	rows      rowCache
	used      []int     // the column behind each feature
	in        []bool    // whether a column is a feature
	seen      []bool    // whether a column has ever been one
	all       int       // how many have
	tightened bool      // another attempt has been made with tighter tolerances
	yv        []float64 // y v at the last pricing
	kyv       []float64 // K (y v)
	last      float64   // objective at the last pricing that dropped features
	like      []float64 // squared similarity to the columns just taken, times K_jj
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
	// Features without weight leave, as long as the objective falls: then no set
	// of features comes back.
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

	// The best, and others unlike those taken: what one of two similar columns
	// can do, the other can hardly add to.
	clear(p.like)
	limit := most + len(p.used)/4
	for taken := range limit {
		j := p.steepest()
		if j < 0 {
			return taken > 0, nil
		}
		row, err := p.rows.row(j)
		if err != nil {
			return false, err
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
	return true, nil
}

// steepest returns the column outside that promises most for its size, among
// those unlike the ones just taken, or -1.
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

// size is |K_jj|, the squared length of x_j in feature space, kept from zero.
func (p *sparse) size(j int) float64 { return max(math.Abs(p.k.Diag(j)), 1e-300) }

const (
	most  = 8   // columns added at a time at first
	alike = 0.1 // squared cosine in feature space above which columns are similar
)

// price updates K(y v) for a new v by the rows of the points whose v changed.
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
	clear(p.yv) // afresh, free of what updates have accumulated
	clear(p.kyv)
	if p.price(ctx, v, d.y) != nil {
		return 1, 0
	}
	_, b := d.weights()
	return min(1, p.rho/floats.Norm(p.kyv, math.Inf(1))), math.Abs(b * floats.Sum(p.yv))
}

// refine aims a little inside the ranges that rounding has broken, if tighter tolerances
// have not sufficed. That costs sum |lambda| times as much, which for a large C is a part
// of the gap as well, while shrinking all of v costs sum v / rho times. So it goes no
// further in than needed, and back out when it has gone too far.
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

// rowCache keeps rows of a matrix up to a limit of memory.
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
