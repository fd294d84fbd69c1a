//go:build cgo

// The product in blocks that fit the caches, after Goto and van de Geijn, "Anatomy
// of high-performance matrix multiplication", ACM TOMS 34 (2008): a block of b and a
// smaller block of a are packed in the order in which they are read, and every tile
// of the result is summed in registers. On x86 the loops are compiled for three
// generations of processors, and each call names one. Every entry of the result is
// summed in the order of k.

#include <stdlib.h>
#include <string.h>
#include "product.h"

enum {
	TALL = 6,   // rows of a tile
	VECS = 2,   // vectors in a row of a tile
	ROWS = 96,  // rows of a block of a
	DEEP = 256, // rows of a block of b
};

#define KIND plain
#define TARGET
#define LANES 2
#include "product_loops.h"

#ifdef __x86_64__
#define KIND avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#include "product_loops.h"

#define KIND avx512
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define LANES 8
#include "product_loops.h"
#endif

int product_add(int simd, double *dst, long stride, double sign, const double *a, long down, long across, const double *b, long b_stride, long m, long n, long k)
{
	const long wide = VECS * 8; // of the widest tile
	double *pa = malloc(sizeof *pa * DEEP * (ROWS + (n + wide - 1) / wide * wide));
	if (!pa)
		return 0;
	double *pb = pa + DEEP * ROWS;
#ifdef __x86_64__
	if (simd == 2)
		add_avx512(dst, stride, sign, a, down, across, b, b_stride, m, n, k, pa, pb);
	else if (simd == 1)
		add_avx2(dst, stride, sign, a, down, across, b, b_stride, m, n, k, pa, pb);
	else
#endif
		add_plain(dst, stride, sign, a, down, across, b, b_stride, m, n, k, pa, pb);
	free(pa);
	return 1;
}
