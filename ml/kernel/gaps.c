//go:build cgo

// The recurrence of gap-weighted subsequences in gcc's vector types, for several strings
// side by side; each lane goes through the same operations, whatever stands in the others.

#include "gaps.h"

#define LOOPS "gaps_loops.h"
#include "levels.h"

void gaps_rows(int simd, double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay)
{
	CHOOSE(gaps, sum, b, x, m, z, n, k, decay);
}
