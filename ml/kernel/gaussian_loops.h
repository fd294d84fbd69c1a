// The loops for one kind of processor: see levels.h.

#define floats NAME(floats)
#define exponential NAME(exponential)
#define values NAME(values)

typedef float floats __attribute__((vector_size(LANES * 4)));

// exp(x) for x <= 0. Results below exp(-708), the least that is not subnormal, are 0.
INLINE vec exponential(vec x)
{
	const double shift = 0x1.8p52; // adding it rounds to an integer, held in the low bits
#if LANES == 8
	// x = n ln(2)/16 + r with |r| <= ln(2)/32: the series of exp(r) to r^6/6!, less what
	// the next term has on average there (relative error below 1e-16), times 2^(n/16)
	// from a table that is held in two registers.
	vec n = x * (16 * 1.4426950408889634) + shift;
	ints e = (ints)n;
	n -= shift;
	vec r = x - n * (6.93147180369123816490e-01 / 16) - n * (1.90821492927058770002e-10 / 16);
	vec p = r * (1. / 720) + (1. / 120 + 1.6291e-7);
	p = p * r + 1. / 24;
	p = p * r + (1. / 6 - 3.8219e-11);
	p = p * r + 0.5;
	p = p * r + 1;
	p = p * r;
	ints t = (ints)_mm512_permutex2var_epi64(_mm512_loadu_si512(roots), (__m512i)e, _mm512_loadu_si512(roots + 8));
	vec s = (vec)(t + (e << 48));
	p = s + s * p;
#else
	// x = n ln(2) + r with |r| <= ln(2)/2, the series of exp(r) to r^13/13! (relative
	// error below 1e-17), times 2^n.
	vec n = x * 1.4426950408889634 + shift;
	ints e = (ints)n;
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
#endif
	return (vec)((ints)p & ~(ints)(x < -708.0)); // NaN stays NaN
}

// The points of a block are taken by FEW vectors at a time, which the registers hold.
enum { NAME(STRIP) = FEW * LANES };
#define STRIP NAME(STRIP)

// The values of the kernel between one strip of points and z.
INLINE void values(vec v[FEW], const double *x, long d, const double *z, double gamma)
{
	for (int a = 0; a < FEW; a++)
		v[a] = (vec){0};
	for (long k = 0; k < d; k++)
		for (int a = 0; a < FEW; a++) {
			vec t = load(x + k * BLOCK + a * LANES) - z[k];
			v[a] += t * t;
		}
	for (int a = 0; a < FEW; a++)
		v[a] = exponential(v[a] * -gamma);
}

INLINE void NAME(row_)(double *dst, const double *x, long n, long d, const double *z, double gamma)
{
	for (long i = 0; i < n; i += STRIP) {
		vec v[FEW];
		values(v, x + i / BLOCK * BLOCK * d + i % BLOCK, d, z, gamma);
		if (n - i >= STRIP)
			memcpy(dst + i, v, STRIP * sizeof *dst);
		else
			memcpy(dst + i, v, (n - i) * sizeof *dst);
	}
}

INLINE void NAME(row32_)(float *dst, const double *x, long n, long d, const double *z, double gamma)
{
	for (long i = 0; i < n; i += STRIP) {
		vec v[FEW];
		floats f[FEW];
		values(v, x + i / BLOCK * BLOCK * d + i % BLOCK, d, z, gamma);
		for (int a = 0; a < FEW; a++)
#if LANES == 8 // which compilers do in two halves
			f[a] = (floats)_mm512_cvtpd_ps((__m512d)v[a]);
#else
			f[a] = __builtin_convertvector(v[a], floats);
#endif
		if (n - i >= STRIP)
			memcpy(dst + i, f, STRIP * sizeof *dst);
		else
			memcpy(dst + i, f, (n - i) * sizeof *dst);
	}
}

INLINE void NAME(sum_)(double *dst, const double *x, long n, long d, const double *z, const double *w, long m, double gamma)
{
	for (long i = 0; i < n; i += STRIP) {
		const double *xi = x + i / BLOCK * BLOCK * d + i % BLOCK;
		vec v[FEW], s[FEW] = {{0}};
		for (long j = 0; j < m; j++) {
			values(v, xi, d, z + j * d, gamma);
			for (int a = 0; a < FEW; a++)
				s[a] += w[j] * v[a];
		}
		double t[STRIP];
		memcpy(t, s, sizeof t);
		for (long k = 0; k < STRIP && i + k < n; k++)
			dst[i + k] += t[k];
	}
}

// Two dimensions, the plane, are compiled by themselves.

TARGET static void NAME(row)(double *dst, const double *x, long n, long d, const double *z, double gamma)
{
	if (d == 2)
		NAME(row_)(dst, x, n, 2, z, gamma);
	else
		NAME(row_)(dst, x, n, d, z, gamma);
}

TARGET static void NAME(row32)(float *dst, const double *x, long n, long d, const double *z, double gamma)
{
	if (d == 2)
		NAME(row32_)(dst, x, n, 2, z, gamma);
	else
		NAME(row32_)(dst, x, n, d, z, gamma);
}

TARGET static void NAME(sum)(double *dst, const double *x, long n, long d, const double *z, const double *w, long m, double gamma)
{
	if (d == 2)
		NAME(sum_)(dst, x, n, 2, z, w, m, gamma);
	else
		NAME(sum_)(dst, x, n, d, z, w, m, gamma);
}

TARGET static void NAME(products)(double *dst, const double *x, long n, long d, const double *z)
{
	for (long i = 0; i < n; i += STRIP) {
		const double *xi = x + i / BLOCK * BLOCK * d + i % BLOCK;
		vec v[FEW] = {{0}};
		for (long k = 0; k < d; k++)
			for (int a = 0; a < FEW; a++)
				v[a] += load(xi + k * BLOCK + a * LANES) * z[k];
		if (n - i >= STRIP)
			memcpy(dst + i, v, STRIP * sizeof *dst);
		else
			memcpy(dst + i, v, (n - i) * sizeof *dst);
	}
}

#undef floats
#undef exponential
#undef values
#undef STRIP
