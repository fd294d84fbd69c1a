//go:build cgo

// The inner loops of a Gram matrix in the vector types of gcc and clang. They
// compile for every architecture; on x86 the same source is compiled for three
// generations of processors, and each call names one. All lanes perform the same
// operations, so that a value depends neither on its position in the row nor on
// the length of the row.

#include <float.h>
#include <limits.h>
#include "gaussian.h"

enum { FEW = 4 };

#ifdef __x86_64__
#include <immintrin.h>
#endif

// The bits of 2^(j/16) minus j << 48, which adding n << 48 restores.
static const long long roots[16] = {
	0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
	0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
	0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
	0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da,
};

#define LOOPS "gaussian_loops.h"
#include "levels.h"

void gaussian_rows(int simd, double *dst, packed x, long n, listed z, long m, double gamma)
{
	CHOOSE(rows, dst, x, n, z, m, gamma);
}

void gaussian_row32(int simd, float *dst, packed x, long n, listed z, double gamma)
{
	CHOOSE(row32, dst, x, n, z, gamma);
}

void gaussian_sum(int simd, double *dst, packed x, long n, listed z, const double *w, long m, double gamma)
{
	CHOOSE(sum, dst, x, n, z, w, m, gamma);
}

void gaussian_sum32(int simd, double *dst, packed x, long n, listed z, const double *w, long m, double gamma)
{
	CHOOSE(sum32, dst, x, n, z, w, m, gamma);
}

void product_row(int simd, double *dst, packed x, long n, listed z)
{
	CHOOSE(products, dst, x, n, z);
}

void tangents(int simd, double *v, long n, double gamma, double coef0)
{
	CHOOSE(tangents, v, n, gamma, coef0);
}
