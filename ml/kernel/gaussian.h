// Rows of the Gaussian and other kernels, see gaussian.c.

// Points are packed in blocks of BLOCK: BLOCK values of the first coordinate,
// BLOCK of the second, and so on. The last block is padded with zeros.
enum { BLOCK = 32 };

// Points one after the other in v. If at is not NULL, point j differs from 0 in the
// coordinates from number ends[j] to ends[j + 1] of at, whole numbers all of them.
typedef struct {
	const double *v;
	const int *at, *ends;
} listed;

// simd is a level of package simd that the processor supports.

// dst[j n + i] = exp(-gamma |x_i - z_j|^2) for the n packed points x_i in d dimensions and
// j < m; with z.at, norms holds |x_i|^2, up to a multiple of BLOCK.
void gaussian_rows(int simd, double *dst, const double *x, const double *norms, long n, long d, listed z, long m, double gamma);

// The same for one z in single precision, to an error of about 2^-24.
void gaussian_row32(int simd, float *dst, const double *x, const double *norms, long n, long d, listed z, double gamma);

// dst[i] += sum over j < m of w[j] exp(-gamma |x_i - z_j|^2)
void gaussian_sum(int simd, double *dst, const double *x, const double *norms, long n, long d, listed z, const double *w, long m, double gamma);

// The same with kernel values in single precision, summed in double precision.
void gaussian_sum32(int simd, double *dst, const double *x, const double *norms, long n, long d, listed z, const double *w, long m, double gamma);

// dst[i] = x_i . z
void product_row(int simd, double *dst, const double *x, long n, long d, const double *z);

// v[i] = tanh(gamma v[i] + coef0)
void tangents(int simd, double *v, long n, double gamma, double coef0);
