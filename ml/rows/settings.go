package rows

import (
	"cmp"
	"fmt"
)

// DefaultCache is the default memory of a row cache, in bytes.
const DefaultCache = 400 << 20

// DefaultLimit returns the default iteration limit on n rows: max(10 000 000, 100 n).
func DefaultLimit(n int) int { return max(10_000_000, 100*n) }

// Complete replaces zero settings of a solver on n rows with their defaults: tol 1e-3, maxIter
// DefaultLimit, cacheBytes DefaultCache. It returns an error for settings out of range.
func Complete(solver string, n int, c float64, tol *float64, maxIter *int, cacheBytes *int64) error {
	if !(c > 0) {
		return fmt.Errorf("%s: C is %g; it must be above 0", solver, c)
	}
	*tol = cmp.Or(*tol, 1e-3)
	if !(*tol > 0) {
		return fmt.Errorf("%s: tol is %g; it must be above 0", solver, *tol)
	}
	if *maxIter < 0 {
		return fmt.Errorf("%s: max_iter is %d; it must not be negative", solver, *maxIter)
	}
	*maxIter = cmp.Or(*maxIter, DefaultLimit(n))
	if *cacheBytes <= 0 {
		*cacheBytes = DefaultCache
	}
	return nil
}
