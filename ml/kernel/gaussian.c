//go:build cgo

// The inner loops of a Gram matrix in gcc's vector types, which clang knows as
// well. They compile for every architecture; on x86 the same source is compiled
// for three generations of processors, and each call chooses. All lanes go
// through the same operations, so that a value depends neither on its place in
// the row nor on the row's length.

#include <string.h>
#include "gaussian.h"

typedef double vec __attribute__((vector_size(64)));
typedef long long bits __attribute__((vector_size(64)));
typedef float half __attribute__((vector_size(32)));

enum { WIDTH = 8, VECS = LANES / WIDTH };

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *p)
{
	vec v;
	memcpy(&v, p, sizeof v);
	return v;
}

// exp(x) for x <= 0: x = n ln 2 + r with |r| <= ln(2)/2, the series of exp(r) to
// r^13/13! (relative error below 1e-17), times 2^n. Results below exp(-708), the
// least that is not subnormal, are 0.
INLINE vec exponential(vec x)
{
	const double shift = 0x1.8p52; // adding it rounds to an integer, held in the low bits
	vec n = x * 1.4426950408889634 + shift;
	bits e = (bits)n;
	n -= shift;
	vec r = x - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10;
	vec p = r * (1. / 6227020800) + 1. / 479001600;
	p = p * r + 1. / 39916800;
	p = p * r + 1. / 3628800;
	p = p * r + 1. / 362880;
	p = p * r + 1. / 40320;
	p = p * r + 1. / 5040;
	p = p * r + 1. / 720;
	p = p * r + 1. / 120;
	p = p * r + 1. / 24;
	p = p * r + 1. / 6;
	p = p * r + 0.5;
	p = p * r + 1;
	p = p * r + 1;
	p *= (vec)((e + 1023) << 52);
	return (vec)((bits)p & ~(bits)(x < -708.0)); // NaN stays NaN
}

// The values of the kernel between one block of points and z.
INLINE void gaussian_block(vec v[VECS], const double *x, long d, const double *z, double gamma)
{
	for (int a = 0; a < VECS; a++)
		v[a] = (vec){0};
	for (long k = 0; k < d; k++, x += LANES)
		for (int a = 0; a < VECS; a++) {
			vec t = load(x + a * WIDTH) - z[k];
			v[a] += t * t;
		}
	for (int a = 0; a < VECS; a++)
		v[a] = exponential(v[a] * -gamma);
}

INLINE void row(double *dst, const double *x, long n, long d, const double *z, double gamma)
{
	vec v[VECS];
	for (; n > 0; n -= LANES, dst += LANES, x += LANES * d) {
		gaussian_block(v, x, d, z, gamma);
		memcpy(dst, v, (n < LANES ? n : LANES) * sizeof *dst);
	}
}

INLINE void row32(float *dst, const double *x, long n, long d, const double *z, double gamma)
{
	vec v[VECS];
	half h[VECS];
	for (; n > 0; n -= LANES, dst += LANES, x += LANES * d) {
		gaussian_block(v, x, d, z, gamma);
		for (int a = 0; a < VECS; a++)
			h[a] = __builtin_convertvector(v[a], half);
		memcpy(dst, h, (n < LANES ? n : LANES) * sizeof *dst);
	}
}

INLINE void sum(double *dst, const double *x, long n, long d, const double *z, const double *w, long m, double gamma)
{
	vec v[VECS], s[VECS];
	for (; n > 0; n -= LANES, dst += LANES, x += LANES * d) {
		for (int a = 0; a < VECS; a++)
			s[a] = (vec){0};
		for (long j = 0; j < m; j++) {
			gaussian_block(v, x, d, z + j * d, gamma);
			for (int a = 0; a < VECS; a++)
				s[a] += w[j] * v[a];
		}
		for (long i = 0; i < (n < LANES ? n : LANES); i++)
			dst[i] += ((double *)s)[i];
	}
}

INLINE void products(double *dst, const double *x, long n, long d, const double *z)
{
	vec v[VECS];
	for (; n > 0; n -= LANES, dst += LANES) {
		for (int a = 0; a < VECS; a++)
			v[a] = (vec){0};
		for (long k = 0; k < d; k++, x += LANES)
			for (int a = 0; a < VECS; a++)
				v[a] += load(x + a * WIDTH) * z[k];
		memcpy(dst, v, (n < LANES ? n : LANES) * sizeof *dst);
	}
}

// VERSIONS compiles the functions once for a kind of processor. Two dimensions,
// the plane, are compiled by themselves.
#define VERSIONS(NAME, TARGET) \
	TARGET static void row_##NAME(double *dst, const double *x, long n, long d, const double *z, double gamma) \
	{ if (d == 2) row(dst, x, n, 2, z, gamma); else row(dst, x, n, d, z, gamma); } \
	TARGET static void row32_##NAME(float *dst, const double *x, long n, long d, const double *z, double gamma) \
	{ if (d == 2) row32(dst, x, n, 2, z, gamma); else row32(dst, x, n, d, z, gamma); } \
	TARGET static void sum_##NAME(double *dst, const double *x, long n, long d, const double *z, const double *w, long m, double gamma) \
	{ if (d == 2) sum(dst, x, n, 2, z, w, m, gamma); else sum(dst, x, n, d, z, w, m, gamma); } \
	TARGET static void products_##NAME(double *dst, const double *x, long n, long d, const double *z) \
	{ products(dst, x, n, d, z); }

VERSIONS(plain, )

#ifdef __x86_64__
VERSIONS(avx2, __attribute__((target("avx2,fma"))))
VERSIONS(avx512, __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))))

#define CHOOSE(NAME, ...) \
	if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) \
		NAME##_avx512(__VA_ARGS__); \
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) \
		NAME##_avx2(__VA_ARGS__); \
	else \
		NAME##_plain(__VA_ARGS__)
#else
#define CHOOSE(NAME, ...) NAME##_plain(__VA_ARGS__)
#endif

void gaussian_row(double *dst, const double *x, long n, long d, const double *z, double gamma)
{
	CHOOSE(row, dst, x, n, d, z, gamma);
}

void gaussian_row32(float *dst, const double *x, long n, long d, const double *z, double gamma)
{
	CHOOSE(row32, dst, x, n, d, z, gamma);
}

void gaussian_sum(double *dst, const double *x, long n, long d, const double *z, const double *w, long m, double gamma)
{
	CHOOSE(sum, dst, x, n, d, z, w, m, gamma);
}

void product_row(double *dst, const double *x, long n, long d, const double *z)
{
	CHOOSE(products, dst, x, n, d, z);
}
