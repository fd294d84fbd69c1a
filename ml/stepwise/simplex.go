package stepwise

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/trace"
)

// SimplexSettings configures Simplex.
type SimplexSettings struct {
	C        float64 // price of the slacks q_i, > 0 and finite
	MaxSteps int     // maximal number of pivots; default 1000
}

// SimplexState is a tableau with the next pivot. Its row r reads, over the columns c,
//
//	Basic[r] + sum_c Table[r][c] Nonbasic[c] = Value[r]
//
// where nonbasic variables are 0, so that basic ones have their Value. The objective is
// Objective + sum_c Cost[c] Nonbasic[c]. The variables are named w1, w2, .., b, h−1, s1, .., q1,
// .., t1, ..; see Simplex.
type SimplexState struct {
	Basic    []string    // variables of the rows, length 2M
	Nonbasic []string    // variables of the columns, length M+d+2
	Value    []float64   // values of the basic variables, length 2M
	Table    [][]float64 // 2M rows of M+d+2
	Cost     []float64   // reduced costs of the nonbasic variables, length M+d+2

	Entering  int       // column of the pivot, -1 at the optimum
	Direction float64   // +1 if the entering variable rises, -1 if a free one falls, 0 if none enters
	Ratios    []float64 // step at which each row blocks, +Inf if it does not; nil if none enters
	Leaving   int       // row of the pivot, the smallest ratio, -1 if none
	Bland     bool      // whether Bland's rule chose the pivot

	Objective float64   // H + C sum of Q
	Weights   []float64 // w or lambda, length d
	B         float64   // bias
	H         float64   // upper bound of y_i f(x_i) + q_i
	Q         []float64 // slacks q_i, length M
	F         []float64 // f(x_i), length M
}

// Simplex solves the linear program of the Minimal Complexity Machine (000, "Generalizing the
// MCM") by the primal simplex method,
//
//	minimise   h + C sum_i q_i
//	subject to 1 <= y_i f(x_i) + q_i <= h,  q_i >= 0,  f(x_i) = sum_k x_ik w_k + b
//
// for the rows of x (M x d). The points themselves give the linear machine with weights w; the Gram
// matrix gives the kernel machine with lambda instead of w.
//
// Let s_i >= 0 and t_i >= 0 be the slacks of the left and the right inequality. Then y_i
// f + q_i = 1 + s_i, and h - 1 >= 0. Solved for q and t the constraints are the first tableau,
//
//	q_i = 1 + s_i - y_i f(x_i),     t_i = (h-1) - s_i,
//
// and w = 0, b = 0, h = 1, q = 1 is a vertex: w, b, s and h-1 are the nonbasic variables, all 0.
// So there is no phase 1 and no big M. w and b are free: they may enter in either direction, and
// they never leave the basis.
//
// The column with the largest absolute cost enters, the first variable in a tie; among the rows
// with the smallest ratio the first variable leaves. All t_i are 0 at the start, so steps of
// length 0 are common; after such a step Bland's rule (1977) chooses the first variable with a
// promising cost, until a step has positive length, which excludes cycling. "First" is in the
// order w, b, h-1, s, q, t. The status is Numerical if, by rounding, no row blocks the entering
// variable.
func Simplex(ctx context.Context, x mat.Matrix, y []float64, s SimplexSettings) (*trace.Replay[SimplexState], error) {
	m, d := x.Dims()
	if err := checkLabels(y, m); err != nil {
		return nil, err
	}
	if err := checkC(s.C); err != nil {
		return nil, err
	}
	for i := range m {
		for k := range d {
			if v := x.At(i, k); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("stepwise: entry %d of row %d is %g; all entries must be finite", k+1, i+1, v)
			}
		}
	}
	t := newTableau(x, y, s.C)
	return record(ctx, s.MaxSteps, func(yield func(SimplexState) bool) trace.Status {
		for bland := false; ; {
			state := t.state(bland)
			switch {
			case !yield(state):
				return trace.IterationLimit
			case state.Entering < 0:
				return trace.Converged
			case state.Leaving < 0:
				return trace.Numerical
			}
			t.pivot(state.Leaving, state.Entering)
			bland = state.Ratios[state.Leaving] == 0
		}
	})
}

// tableau is the program solved for the basic variables. Variables are numbered from 0:
// w_1..w_d, b, h-1, s_1..s_M, q_1..q_M, t_1..t_M.
type tableau struct {
	m, d            int
	x               mat.Matrix
	names           []string
	tol             []float64 // by variable: smaller costs count as 0
	basic, nonbasic []int
	value, cost     []float64
	table           [][]float64
	objective       float64
}

func newTableau(x mat.Matrix, y []float64, c float64) *tableau {
	m, d := x.Dims()
	bias, height, s := d, d+1, d+2
	q, t := s+m, s+2*m
	o := &tableau{m: m, d: d, x: x, nonbasic: dataset.Indices(q), cost: make([]float64, q), objective: 1 + c*float64(m)}
	o.names = lists.Make(d, func(k int) string { return "w" + strconv.Itoa(k+1) })
	o.names = append(o.names, "b", "h−1")
	for _, letter := range []string{"s", "q", "t"} {
		for i := range m {
			o.names = append(o.names, letter+strconv.Itoa(i+1))
		}
	}
	o.tol = slices.Repeat([]float64{1e-10 + 1e-13*c}, len(o.names))
	for k := range d {
		var size float64
		for i := range m {
			size += math.Abs(x.At(i, k))
		}
		o.tol[k] *= size
	}

	o.cost[height] = 1
	for i := range m {
		row := make([]float64, q)
		for k := range d {
			row[k] = y[i] * x.At(i, k)
			o.cost[k] -= c * row[k]
		}
		row[bias], row[s+i] = y[i], -1
		o.cost[bias] -= c * y[i]
		o.cost[s+i] = c
		o.basic, o.value, o.table = append(o.basic, q+i), append(o.value, 1), append(o.table, row)
	}
	for i := range m {
		row := make([]float64, q)
		row[height], row[s+i] = -1, 1
		o.basic, o.value, o.table = append(o.basic, t+i), append(o.value, 0), append(o.table, row)
	}
	return o
}

// free reports whether a variable may be negative: the weights and b.
func (o *tableau) free(v int) bool { return v <= o.d }

// entering returns the entering column and the direction of its variable; -1 at the optimum.
func (o *tableau) entering(bland bool) (col int, direction float64) {
	col = -1
	for c, v := range o.nonbasic {
		gain := -o.cost[c]
		if o.free(v) {
			gain = math.Abs(gain)
		}
		if gain <= o.tol[v] {
			continue
		}
		better := col < 0
		if !better {
			best := math.Abs(o.cost[col])
			better = !bland && gain > best || (bland || gain == best) && v < o.nonbasic[col]
		}
		if better {
			col, direction = c, math.Copysign(1, -o.cost[c])
		}
	}
	return col, direction
}

// ratios returns the step at which every row blocks the entering variable.
func (o *tableau) ratios(col int, direction float64) []float64 {
	most := floats.Norm(lists.Map(o.table, func(row []float64) float64 { return row[col] }), math.Inf(1))
	ratios := make([]float64, len(o.table))
	for r, row := range o.table {
		ratios[r] = math.Inf(1)
		if v := direction * row[col]; !o.free(o.basic[r]) && v > 1e-11*most {
			ratios[r] = o.value[r] / v
		}
	}
	return ratios
}

// leaving returns the row with the smallest ratio, in a tie the row of the first variable, or -1.
func (o *tableau) leaving(ratios []float64) int {
	least := floats.Min(ratios)
	if math.IsInf(least, 1) {
		return -1
	}
	leaving := -1
	for r, v := range ratios {
		if v <= least*(1+1e-12) && (leaving < 0 || o.basic[r] < o.basic[leaving]) {
			leaving = r
		}
	}
	return leaving
}

// pivot exchanges the variables of a row and a column.
func (o *tableau) pivot(row, col int) {
	l := o.table[row]
	p := l[col]
	for c := range l {
		l[c] /= p
	}
	l[col] = 1 / p
	o.value[row] /= p
	eliminate := func(r []float64, factor float64) {
		for c := range r {
			r[c] = subtract(r[c], factor*l[c])
		}
		r[col] = -factor / p
	}
	for r, other := range o.table {
		if r == row {
			continue
		}
		factor := other[col]
		eliminate(other, factor)
		o.value[r] = subtract(o.value[r], factor*o.value[row])
		if !o.free(o.basic[r]) {
			o.value[r] = max(0, o.value[r])
		}
	}
	o.objective += o.cost[col] * o.value[row]
	eliminate(o.cost, o.cost[col])
	o.basic[row], o.nonbasic[col] = o.nonbasic[col], o.basic[row]
}

// subtract returns a - b, or 0 if the difference is a rounding error.
func subtract(a, b float64) float64 {
	if v := a - b; math.Abs(v) > 1e-13*math.Abs(a) {
		return v
	}
	return 0
}

func (o *tableau) state(bland bool) SimplexState {
	s := SimplexState{
		Basic: o.called(o.basic), Nonbasic: o.called(o.nonbasic),
		Value: slices.Clone(o.value), Cost: slices.Clone(o.cost), Leaving: -1,
		Objective: o.objective, Q: make([]float64, o.m), F: make([]float64, o.m),
	}
	s.Table = lists.Map(o.table, slices.Clone)
	s.Entering, s.Direction = o.entering(bland)
	if s.Entering >= 0 {
		s.Ratios = o.ratios(s.Entering, s.Direction)
		s.Leaving = o.leaving(s.Ratios)
		s.Bland = bland
	}
	values := make([]float64, len(o.names))
	for r, v := range o.basic {
		values[v] = o.value[r]
	}
	s.Weights, s.B, s.H = values[:o.d:o.d], values[o.d], 1+values[o.d+1]
	copy(s.Q, values[o.d+2+o.m:])
	for i := range s.F {
		s.F[i] = s.B
		for k, w := range s.Weights {
			s.F[i] += w * o.x.At(i, k)
		}
	}
	return s
}

func (o *tableau) called(variables []int) []string {
	return lists.At(o.names, variables)
}
