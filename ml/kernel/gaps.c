//go:build cgo

// The recurrence of gap-weighted subsequences in gcc's vector types, for several strings
// side by side; each lane goes through the same operations, whatever stands in the others.

#include <string.h>
#include "gaps.h"

#define KIND plain
#define TARGET
#define LANES 2
#include "gaps_loops.h"

#ifdef __x86_64__
#define KIND avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#include "gaps_loops.h"

#define KIND avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define LANES 8
#include "gaps_loops.h"
#endif

void gaps_rows(int simd, double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay)
{
#ifdef __x86_64__
	if (simd == 2) {
		gaps_avx512(sum, b, x, m, z, n, k, decay);
		return;
	}
	if (simd == 1) {
		gaps_avx2(sum, b, x, m, z, n, k, decay);
		return;
	}
#endif
	gaps_plain(sum, b, x, m, z, n, k, decay);
}
