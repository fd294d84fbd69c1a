//go:build cgo

// The loops of sweep.go in the vector types of gcc and clang. They compile for
// every architecture; on x86 the same source is compiled for three generations
// of processors, and each call names one.

#include <math.h>
#include <string.h>
#include "sweep.h"

#define KIND plain
#define TARGET
#define LANES 2
#define REAL float
#define BITS 32
#include "sweep_loops.h"
#define REAL double
#define BITS 64
#include "sweep_loops.h"
#undef KIND
#undef TARGET
#undef LANES

#ifdef __x86_64__
#include <immintrin.h>

#define KIND avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define REAL float
#define BITS 32
#include "sweep_loops.h"
#define REAL double
#define BITS 64
#include "sweep_loops.h"
#undef KIND
#undef TARGET
#undef LANES

#define KIND avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define LANES 8
#define REAL float
#define BITS 32
#include "sweep_loops.h"
#define REAL double
#define BITS 64
#include "sweep_loops.h"

#define CHOOSE(NAME, ...) \
	(simd == 2 ? NAME##_avx512(__VA_ARGS__) : simd == 1 ? NAME##_avx2(__VA_ARGS__) : NAME##_plain(__VA_ARGS__))
#else
#define CHOOSE(NAME, ...) NAME##_plain(__VA_ARGS__)
#endif

#define EXPORTED(BITS, REAL) \
	struct partner partner##BITS(int simd, const double *g, const double *low, const double *diag, const REAL *ki, long n, double gi, double kii) \
	{ return CHOOSE(partner##BITS, g, low, diag, ki, n, gi, kii); } \
	long update##BITS(int simd, double *g, const double *up, const REAL *ki, const REAL *kj, long n, double step) \
	{ return CHOOSE(update##BITS, g, up, ki, kj, n, step); } \
	void add##BITS(int simd, double *dst, double a, const REAL *row, long n) \
	{ CHOOSE(add##BITS, dst, a, row, n); } \
	void add_each##BITS(int simd, double *dst, long stride, const double *a, long k, const REAL *row, long n) \
	{ \
		for (long c = 0; c < k; c++) \
			if (a[c] != 0) \
				CHOOSE(add##BITS, dst + c * stride, a[c], row, n); \
	} \
	double sum##BITS(int simd, const REAL *row, long n) \
	{ return CHOOSE(sum##BITS, row, n); }

EXPORTED(32, float)
EXPORTED(64, double)

struct edges look(int simd, const double *own, const double *f, const double *u, double c, long n)
{
	return CHOOSE(look64, own, f, u, c, n);
}

void pair(int simd, double *g, double *up, double *low, const double *fa, const double *fb, const double *u, double sign, double c, long n)
{
	CHOOSE(pair64, g, up, low, fa, fb, u, sign, c, n);
}

void bracket(int simd, double *most, double *least, const double *own, const double *f, const double *u, long n)
{
	CHOOSE(bracket64, most, least, own, f, u, n);
}
