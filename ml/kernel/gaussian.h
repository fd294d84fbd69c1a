// Rows of the Gaussian and other kernels, see gaussian.c.

// Points in d dimensions, packed in blocks of BLOCK: BLOCK values of the first coordinate,
// BLOCK of the second, and so on. The last block is padded with zeros. Of sparse points, of which
// start is not NULL, block b begins at v + start[b] with BLOCK zeros and has only the coordinates
// that some names. norms, the squares |x|^2 of sparse points, is NULL where distances need all coordinates.
enum { BLOCK = 32 };

#include <stdint.h>

typedef struct {
	const double *v;
	long d;
	const unsigned long long *some;
	const intptr_t *start;
	const double *norms;
} packed;

// Points one after the other in v. If x is sparse, some says which coordinates differ from 0, and
// the points may be those at other places in v, some and norms.
typedef struct {
	const double *v;
	const unsigned long long *some;
	const double *norms;
	const intptr_t *at;
} listed;

// simd is a level of package simd that the processor supports.

// dst[j n + i] = exp(-gamma |x_i - z_j|^2) for i < n and j < m
void gaussian_rows(int simd, double *dst, packed x, long n, listed z, long m, double gamma);

// The same for one z in single precision, to an error of about 2^-24.
void gaussian_row32(int simd, float *dst, packed x, long n, listed z, double gamma);

// dst[i] += sum over j < m of w[j] exp(-gamma |x_i - z_j|^2)
void gaussian_sum(int simd, double *dst, packed x, long n, listed z, const double *w, long m, double gamma);

// The same with kernel values in single precision, summed in double precision.
void gaussian_sum32(int simd, double *dst, packed x, long n, listed z, const double *w, long m, double gamma);

// dst[i] = x_i . z for i < n and one z, of which some may be given though x is not sparse
void product_row(int simd, double *dst, packed x, long n, listed z);

// v[i] = tanh(gamma v[i] + coef0)
void tangents(int simd, double *v, long n, double gamma, double coef0);
