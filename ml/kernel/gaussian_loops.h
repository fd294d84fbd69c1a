// The loops for one kind of processor: see levels.h.

#define half NAME(half)
#define single NAME(single)
#define places NAME(places)
#define joined NAME(joined)
#define first NAME(first)
#define second NAME(second)
#define looked_up NAME(looked_up)
#define exponential NAME(exponential)
#define exponential32 NAME(exponential32)
#define distances NAME(distances)
#define values NAME(values)
#define values32 NAME(values32)
#define write NAME(write)
#define strip NAME(strip)
#define add_products NAME(add_products)
#define add NAME(add)
#define add32 NAME(add32)

// Vectors in single precision: a half has as many numbers as a vec and takes half a
// register, a single has twice as many.
typedef float half __attribute__((vector_size(LANES * 4)));
typedef float single __attribute__((vector_size(LANES * 8)));
typedef int places __attribute__((vector_size(LANES * 8)));

#if LANES == 8 // compilers go through memory unless told otherwise
INLINE single joined(vec a, vec b)
{
	return (single)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)a)), _mm512_cvtpd_ps((__m512d)b), 1);
}
INLINE vec first(single f) { return (vec)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)f)); }
INLINE vec second(single f) { return (vec)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)f, 1)); }
#elif LANES == 4
INLINE single joined(vec a, vec b) { return (single)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)b), _mm256_cvtpd_ps((__m256d)a)); }
INLINE vec first(single f) { return (vec)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)f)); }
INLINE vec second(single f) { return (vec)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)f, 1)); }
#else
INLINE single joined(vec a, vec b)
{
	half h[2] = {__builtin_convertvector(a, half), __builtin_convertvector(b, half)};
	single f;
	memcpy(&f, h, sizeof f);
	return f;
}
INLINE vec first(single f)
{
	half h;
	memcpy(&h, &f, sizeof h);
	return __builtin_convertvector(h, vec);
}
INLINE vec second(single f)
{
	half h;
	memcpy(&h, (char *)&f + sizeof h, sizeof h);
	return __builtin_convertvector(h, vec);
}
#endif

// The elements of roots that the low four bits of e select.
INLINE ints looked_up(ints e)
{
#if LANES == 8
	return (ints)_mm512_permutex2var_epi64(_mm512_loadu_si512(roots), (__m512i)e, _mm512_loadu_si512(roots + 8));
#elif LANES == 4
	return (ints)_mm256_i64gather_epi64(roots, (__m256i)(e & 15), 8);
#else
	return (ints){roots[e[0] & 15], roots[e[1] & 15]};
#endif
}

// exp(x) for x <= 0. Results below exp(-708), near the smallest normal number, are 0.
INLINE vec exponential(vec x)
{
	// x = n ln(2)/16 + r with |r| <= ln(2)/32: the series of exp(r) to r^6/6!, corrected by
	// the mean of the next term (relative error below 1e-16), times 2^(n/16) from a table.
	const double shift = 0x1.8p52; // adding it rounds to an integer, held in the low bits
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
	vec s = (vec)(looked_up(e) + (e << 48));
	p = s + s * p;
	return (vec)((ints)p & ~(ints)(x < -708.0)); // NaN stays NaN
}

// 2^t for t <= 0 to an error of about 2^-24, half the distance of the two largest results.
// Subnormal results become 0.
INLINE single exponential32(single t)
{
	// t = n + r with |r| <= 1/2, and the polynomial of degree 6 that is 1 at 0 with the
	// smallest relative error, 2e-9.
	const float shift = 0x1.8p23f; // as above
	single n = t + shift;
	places e = (places)n;
	n -= shift;
	single r = t - n;
	single p = r * 1.535336195e-4f + 1.339887440e-3f;
	p = p * r + 9.618437357e-3f;
	p = p * r + 5.550332471e-2f;
	p = p * r + 2.402264791e-1f;
	p = p * r + 6.931472029e-1f;
	p = p * r + 1;
	places bits = (places)p + (e << 23);
	return (single)((bits & ~(places)(t < -126.f)) | (places)(t != t)); // NaN stays NaN
}

// The points of a block are processed FEW vectors at a time, which fit the registers.
enum { NAME(STRIP) = FEW * LANES };
#define STRIP NAME(STRIP)

// Each of them with so many z at a time.
enum { NAME(SEVERAL) = LANES == 8 ? 4 : 2 };
#define SEVERAL NAME(SEVERAL)

// Adds factor times the inner products of one strip of points and z to v, without the coordinates
// that are 0 in z or in the block.
INLINE void add_products(vec v[FEW], packed x, const double *z, const unsigned long long *in_z, double factor)
{
	const double *xk = x.start ? x.v + BLOCK : x.v;
	for (long w = 0; w < (x.d + 63) / 64; w++) {
		unsigned long long in = x.start ? x.some[w] : -1;
		for (unsigned long long some = in & in_z[w]; some; some &= some - 1) {
			const double *at = xk + __builtin_popcountll(in & (some ^ (some - 1)) >> 1) * BLOCK;
			double zk = factor * z[w * 64 + __builtin_ctzll(some)];
			for (int a = 0; a < FEW; a++)
				v[a] += load(at + a * LANES) * zk;
		}
		xk += __builtin_popcountll(in) * BLOCK;
	}
}

// The squared distances between one strip of points and several z from number j. Points of many
// coordinates do not fit the fastest cache, from which each z would read them again. Of sparse points,
// coordinates that are 0 in all of these add nothing, or |x - z|^2 is |x|^2 + |z|^2 - 2 x.z, which
// rounding may make a little less than 0 for equal points.
INLINE void distances(vec v[][FEW], long several, packed x, listed z, long j)
{
	long words = (x.d + 63) / 64;
	const double *zv[SEVERAL];
	const unsigned long long *in_z[SEVERAL] = {0};
	for (int b = 0; b < several; b++) {
		long i = z.at ? z.at[j + b] : j + b;
		zv[b] = z.v + i * x.d;
		if (x.start)
			in_z[b] = z.some + i * words;
		for (int a = 0; a < FEW; a++)
			v[b][a] = x.norms ? load(x.norms + a * LANES) + z.norms[i] : (vec){0};
	}
	if (x.norms)
		for (int b = 0; b < several; b++)
			add_products(v[b], x, zv[b], in_z[b], -2);
	else { // one loop for all other points: gcc keeps v in memory if there are two
		const double *next = x.start ? x.v + BLOCK : x.v;
		for (long w = 0; w < (x.start ? words : 1); w++) {
			unsigned long long in = x.start ? x.some[w] : 0, some = in;
			for (int b = 0; x.start && b < several; b++)
				some |= in_z[b][w];
			for (long k = 0; x.start ? some != 0 : k < x.d; k++, some &= some - 1) {
				const double *xk = next;
				if (x.start) {
					int bit = __builtin_ctzll(some), held = in >> bit & 1;
					k = w * 64 + bit;
					xk = held ? next : x.v;
					next += held * BLOCK;
				} else
					next += BLOCK;
				for (int a = 0; a < FEW; a++) {
					vec xa = load(xk + a * LANES);
					for (int b = 0; b < several; b++) {
						vec t = xa - zv[b][k];
						v[b][a] += t * t;
					}
				}
			}
		}
	}
}

// The kernel values between one strip of points and several z.
INLINE void values(vec v[][FEW], long several, packed x, listed z, long j, double gamma)
{
	distances(v, several, x, z, j);
	for (int b = 0; b < several; b++)
		for (int a = 0; a < FEW; a++)
			v[b][a] = exponential(v[b][a] * -gamma);
}

// The same in single precision, from distances in double.
INLINE void values32(single f[][FEW / 2], long several, packed x, listed z, long j, double gamma)
{
	vec v[SEVERAL][FEW];
	distances(v, several, x, z, j);
	gamma *= 1.4426950408889634;
	if (gamma > DBL_MAX)
		gamma = DBL_MAX;
	for (int b = 0; b < several; b++)
		for (int a = 0; a < FEW; a += 2)
			f[b][a / 2] = exponential32(joined(v[b][a] * -gamma, v[b][a + 1] * -gamma));
}

// Writes the kernel values between one strip of points and several z, each to its row.
INLINE void write(double *dst, long n, long several, packed x, listed z, long j, double gamma, long size)
{
	vec v[SEVERAL][FEW];
	values(v, several, x, z, j, gamma);
	for (long b = 0; b < several; b++)
		if (size == STRIP)
			memcpy(dst + (j + b) * n, v[b], STRIP * sizeof *dst);
		else
			memcpy(dst + (j + b) * n, v[b], size * sizeof *dst);
}

// The points of x from the strip that begins with point i.
INLINE packed strip(packed x, long i)
{
	x.v += (x.start ? x.start[i / BLOCK] : i / BLOCK * BLOCK * x.d) + i % BLOCK;
	if (x.start)
		x.some += i / BLOCK * ((x.d + 63) / 64);
	if (x.norms)
		x.norms += i;
	return x;
}

INLINE void NAME(rows_)(double *dst, packed x, long n, listed z, long m, double gamma, long several)
{
	for (long i = 0; i < n; i += STRIP) {
		packed xi = strip(x, i);
		long size = n - i < STRIP ? n - i : STRIP, j = 0;
		for (; j + several <= m; j += several)
			write(dst + i, n, several, xi, z, j, gamma, size);
		for (; j < m; j++)
			write(dst + i, n, 1, xi, z, j, gamma, size);
	}
}

INLINE void NAME(row32_)(float *dst, packed x, long n, listed z, double gamma)
{
	for (long i = 0; i < n; i += STRIP) {
		packed xi = strip(x, i);
		single f[1][FEW / 2];
		values32(f, 1, xi, z, 0, gamma);
		if (n - i >= STRIP)
			memcpy(dst + i, f, STRIP * sizeof *dst);
		else
			memcpy(dst + i, f, (n - i) * sizeof *dst);
	}
}

// Adds the kernel values between one strip of points and several z, times their weights, to s.
INLINE void add(vec s[FEW], long several, packed x, listed z, long j, const double *w, double gamma)
{
	vec v[SEVERAL][FEW];
	values(v, several, x, z, j, gamma);
	for (int b = 0; b < several; b++)
		for (int a = 0; a < FEW; a++)
			s[a] += w[j + b] * v[b][a];
}

INLINE void add32(vec s[FEW], long several, packed x, listed z, long j, const double *w, double gamma)
{
	single f[SEVERAL][FEW / 2];
	values32(f, several, x, z, j, gamma);
	for (int b = 0; b < several; b++)
		for (int a = 0; a < FEW; a += 2) {
			s[a] += w[j + b] * first(f[b][a / 2]);
			s[a + 1] += w[j + b] * second(f[b][a / 2]);
		}
}

INLINE void NAME(sum_)(double *dst, packed x, long n, listed z, const double *w, long m, double gamma, long several,
	void add(vec *, long, packed, listed, long, const double *, double))
{
	for (long i = 0; i < n; i += STRIP) {
		packed xi = strip(x, i);
		vec s[FEW] = {{0}};
		long j = 0;
		for (; j + several <= m; j += several)
			add(s, several, xi, z, j, w, gamma);
		for (; j < m; j++)
			add(s, 1, xi, z, j, w, gamma);
		double t[STRIP];
		memcpy(t, s, sizeof t);
		for (long k = 0; k < STRIP && i + k < n; k++)
			dst[i + k] += t[k];
	}
}

INLINE void NAME(products_)(double *dst, packed x, long n, listed z)
{
	for (long i = 0; i < n; i += STRIP) {
		packed xi = strip(x, i);
		vec v[FEW] = {{0}};
		if (z.some)
			add_products(v, xi, z.v, z.some, 1);
		else
			for (long k = 0; k < x.d; k++)
				for (int a = 0; a < FEW; a++)
					v[a] += load(xi.v + k * BLOCK + a * LANES) * z.v[k];
		if (n - i >= STRIP)
			memcpy(dst + i, v, STRIP * sizeof *dst);
		else
			memcpy(dst + i, v, (n - i) * sizeof *dst);
	}
}

// Two dimensions are specialised: FLAT are the points in a plane, DENSE those of which no coordinate
// is left out.
#define FLAT ((packed){x.v, 2})
#define DENSE ((packed){x.v, x.d})
#define LISTED ((listed){z.v})

TARGET static void NAME(rows)(double *dst, packed x, long n, listed z, long m, double gamma)
{
	if (x.d == 2)
		NAME(rows_)(dst, FLAT, n, LISTED, m, gamma, 1);
	else if (x.start)
		NAME(rows_)(dst, x, n, z, m, gamma, SEVERAL);
	else
		NAME(rows_)(dst, DENSE, n, LISTED, m, gamma, SEVERAL);
}

TARGET static void NAME(row32)(float *dst, packed x, long n, listed z, double gamma)
{
	if (x.d == 2)
		NAME(row32_)(dst, FLAT, n, LISTED, gamma);
	else if (x.start)
		NAME(row32_)(dst, x, n, z, gamma);
	else
		NAME(row32_)(dst, DENSE, n, LISTED, gamma);
}

TARGET static void NAME(sum)(double *dst, packed x, long n, listed z, const double *w, long m, double gamma)
{
	if (x.d == 2)
		NAME(sum_)(dst, FLAT, n, LISTED, w, m, gamma, 1, add);
	else if (x.start)
		NAME(sum_)(dst, x, n, z, w, m, gamma, SEVERAL, add);
	else
		NAME(sum_)(dst, DENSE, n, LISTED, w, m, gamma, SEVERAL, add);
}

TARGET static void NAME(sum32)(double *dst, packed x, long n, listed z, const double *w, long m, double gamma)
{
	if (x.d == 2)
		NAME(sum_)(dst, FLAT, n, LISTED, w, m, gamma, 1, add32);
	else if (x.start)
		NAME(sum_)(dst, x, n, z, w, m, gamma, SEVERAL, add32);
	else
		NAME(sum_)(dst, DENSE, n, LISTED, w, m, gamma, SEVERAL, add32);
}

TARGET static void NAME(products)(double *dst, packed x, long n, listed z)
{
	if (x.d == 2)
		NAME(products_)(dst, FLAT, n, LISTED);
	else if (z.some)
		NAME(products_)(dst, x, n, z);
	else
		NAME(products_)(dst, DENSE, n, LISTED);
}

// tanh of v[i] times gamma plus coef0: near 0 the convergent of Lambert's continued fraction
// u/(1 + u^2/(3 + u^2/(5 + ...))), where 1 - exp(-2|u|) would cancel.
TARGET static void NAME(tangents)(double *v, long n, double gamma, double coef0)
{
	for (long i = 0; i < n; i += LANES) {
		vec u = {0};
		if (n - i >= LANES)
			u = load(v + i);
		else
			memcpy(&u, v + i, (n - i) * sizeof *v);
		u = u * gamma + coef0;
		ints sign = (ints)u & LLONG_MIN;
		vec e = exponential((vec)((ints)u | LLONG_MIN) * 2), s = u * u;
		vec over = u * (s * (s * (s + 378) + 17325) + 135135);
		vec under = s * (s * (s * 28 + 3150) + 62370) + 135135;
		ints near = s < 0.2;
		over = (vec)((near & (ints)over) | (~near & ((ints)(1 - e) | sign)));
		under = (vec)((near & (ints)under) | (~near & (ints)(1 + e)));
		u = over / under;
		if (n - i >= LANES)
			memcpy(v + i, &u, sizeof u);
		else
			memcpy(v + i, &u, (n - i) * sizeof *v);
	}
}

#undef half
#undef single
#undef places
#undef joined
#undef first
#undef second
#undef looked_up
#undef exponential
#undef exponential32
#undef distances
#undef values
#undef values32
#undef write
#undef strip
#undef add_products
#undef add
#undef add32
#undef STRIP
#undef FLAT
#undef SEVERAL
