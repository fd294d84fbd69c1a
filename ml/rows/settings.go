package rows

import "fmt"

// DefaultCache is the memory of a row cache, in bytes, unless the settings of a solver say otherwise.
const DefaultCache = 400 << 20

// Complete replaces settings of a solver on n rows that are 0 by their defaults, and refuses those
// that make no problem.
func Complete(solver string, n int, c float64, tol *float64, maxIter *int, cacheBytes *int64) error {
	if !(c > 0) {
		return fmt.Errorf("%s: C is %g; it must be above 0", solver, c)
	}
	if *tol == 0 {
		*tol = 1e-3
	}
	if !(*tol > 0) {
		return fmt.Errorf("%s: tol is %g; it must be above 0", solver, *tol)
	}
	if *maxIter < 0 {
		return fmt.Errorf("%s: max_iter is %d; it must not be negative", solver, *maxIter)
	}
	if *maxIter == 0 {
		*maxIter = max(10_000_000, 100*n)
	}
	if *cacheBytes <= 0 {
		*cacheBytes = DefaultCache
	}
	return nil
}
