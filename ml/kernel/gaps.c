//go:build cgo

// The recurrence of gap-weighted subsequences in the vector types of gcc and clang, for
// several strings at once. The operations of a lane do not depend on the other lanes.

#include "gaps.h"

#define LOOPS "gaps_loops.h"
#include "levels.h"

void gaps_rows(int simd, double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay)
{
	CHOOSE(gaps, sum, b, x, m, z, n, k, decay);
}
