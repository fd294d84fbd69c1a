package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// sparse is the span of the columns of K. They become features of the programme
// as they price out: column j lowers the objective when |K(y v)|_j > rho.
type sparse struct {
	k    Matrix
	rho  float64
	rows rowCache
	used []int     // the column behind each feature
	in   []bool    // whether a column is a feature
	yv   []float64 // the point at which columns were last priced
	kyv  []float64 // K yv
	like []float64 // squared similarity to a column just taken, times K_jj
	last float64   // objective at that point
	seen []bool    // whether it has ever been one
	all  int       // columns seen
}

func newSparse(k Matrix, rho float64) *sparse {
	m := k.Len()
	return &sparse{
		k: k, rho: rho, rows: rowCache{k: k, rows: make([][]float64, m), scratch: make([]float64, m)},
		in: make([]bool, m), seen: make([]bool, m), yv: make([]float64, m), kyv: make([]float64, m), like: make([]float64, m), last: math.Inf(1),
	}
}

func (p *sparse) grow(ctx context.Context, d *dual) (bool, error) {
	v := d.point()
	if err := p.price(ctx, v, d.y); err != nil {
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
	taken := 0
	clear(p.like)
	for range most + len(p.used)/4 {
		best, score := -1, 0.0
		for j, x := range p.kyv {
			size := math.Abs(p.k.Diag(j))
			if over := math.Abs(x) - p.rho*(1+1e-10); over > score*math.Sqrt(size) && !p.in[j] && p.like[j] <= alike*size {
				best, score = j, over/math.Sqrt(max(size, math.SmallestNonzeroFloat64))
			}
		}
		if best < 0 {
			break
		}
		row, err := p.rows.row(best)
		if err != nil {
			return false, err
		}
		d.addFeature(row)
		taken++
		p.used, p.in[best] = append(p.used, best), true
		if !p.seen[best] {
			p.seen[best] = true
			p.all++
		}
		for j, v := range row {
			p.like[j] = max(p.like[j], v*v/max(math.Abs(row[best]), math.SmallestNonzeroFloat64))
		}
	}
	return taken > 0, nil
}

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
		if err := ctx.Err(); err != nil {
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

func (p *sparse) defect(ctx context.Context, v []float64, d *dual) (factor, residual float64) {
	clear(p.yv) // afresh, free of what updates have accumulated
	clear(p.kyv)
	if p.price(ctx, v, d.y) != nil {
		return 1, 0
	}
	_, b := d.weights()
	return min(1, p.rho/floats.Norm(p.kyv, math.Inf(1))), math.Abs(b * floats.Sum(p.yv))
}

// refine aims a little inside the ranges that rounding has broken. That costs
// sum |lambda| times as much, while shrinking all of v costs sum v / rho times.
func (p *sparse) refine(d *dual) {
	if excess := floats.Norm(p.kyv, math.Inf(1)) - p.rho; excess > 0 {
		d.setRho(d.rho - min(4*excess, d.rho/2))
	}
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
