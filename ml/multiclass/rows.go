package multiclass

// rows holds the rows of a matrix that were used last, within the memory given.
type rows struct {
	fill func(dst []float64, i int) error // computes row i
	n    int                              // entries of a row
	held [][]float64                      // nil where not held
	used []int                            // when a row was asked for last
	room int                              // rows that may still be added
	now  int
}

// newRows holds up to so many bytes of a matrix of n rows, but at least the rows of one
// step.
func newRows(n, atLeast int, bytes int64, fill func(dst []float64, i int) error) *rows {
	room := max(int64(atLeast), bytes/(8*int64(n)))
	return &rows{fill: fill, n: n, held: make([][]float64, n), used: make([]int, n), room: int(min(room, int64(n)))}
}

// row returns row i, which is for reading. It stays valid while no more rows are asked
// for than one step takes.
func (r *rows) row(i int) ([]float64, error) {
	r.now++
	r.used[i] = r.now
	if row := r.held[i]; row != nil {
		return row, nil
	}
	var row []float64
	if r.room > 0 {
		r.room--
		row = make([]float64, r.n)
	} else {
		oldest := -1
		for j, held := range r.held {
			if held != nil && (oldest < 0 || r.used[j] < r.used[oldest]) {
				oldest = j
			}
		}
		row, r.held[oldest] = r.held[oldest], nil
	}
	if err := r.fill(row, i); err != nil {
		return nil, err
	}
	r.held[i] = row
	return row, nil
}
