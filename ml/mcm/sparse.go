package mcm

import (
	"context"
	"math"
	"slices"

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
	last float64   // objective at that point
	peak int       // most features at a time
}

func newSparse(k Matrix, rho float64) *sparse {
	m := k.Len()
	return &sparse{
		k: k, rho: rho, rows: rowCache{k: k, rows: make([][]float64, m), scratch: make([]float64, m)},
		in: make([]bool, m), yv: make([]float64, m), kyv: make([]float64, m), last: math.Inf(1),
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

	type candidate struct {
		j     int
		score float64
	}
	var cs []candidate
	for j, x := range p.kyv {
		if over := math.Abs(x) - p.rho*(1+1e-10); over > 0 && !p.in[j] {
			cs = append(cs, candidate{j, over / math.Sqrt(math.Abs(p.k.Diag(j))+1e-12)})
		}
	}
	slices.SortFunc(cs, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.j - b.j
	})
	// The best, and others unlike those taken.
	var taken [][]float64
	for _, c := range cs {
		if len(taken) >= batch {
			break
		}
		alike := false
		for _, row := range taken {
			if row[c.j]*row[c.j] > 0.5*math.Abs(p.k.Diag(c.j))*math.Abs(row[len(row)-1]) {
				alike = true
				break
			}
		}
		if alike {
			continue
		}
		row, err := p.rows.row(c.j)
		if err != nil {
			return false, err
		}
		d.addFeature(row)
		p.used, p.in[c.j] = append(p.used, c.j), true
		taken = append(taken, append(slices.Clone(row), p.k.Diag(c.j)))
	}
	p.peak = max(p.peak, len(p.used))
	return len(taken) > 0, nil
}

const batch = 4

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

func (p *sparse) function(d *dual, r *Result) {
	w, b := d.weights()
	clear(r.Lambda)
	for i := range r.F {
		r.F[i] = b
	}
	for f, j := range p.used {
		if w[f] != 0 {
			row, _ := p.rows.row(j)
			r.Lambda[j] = w[f]
			floats.AddScaled(r.F, w[f], row)
		}
	}
	r.B, r.Rank = b, p.peak
}

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
