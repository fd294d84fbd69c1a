// The sweeps for one kind of processor and one precision of the rows. sweep.c
// includes this file for each, with these defined:
//
//	KIND    suffix of the names for the processor
//	TARGET  attribute of the functions
//	LANES   numbers in a vector
//	REAL    float or double
//	BITS    32 or 64, a suffix for REAL

#define CONCAT(a, b, c) a##b##_##c
#define EXPAND(a, b, c) CONCAT(a, b, c)
#define NAME(f) EXPAND(f, BITS, KIND)

#define INLINE TARGET static inline __attribute__((always_inline))

#define vec NAME(vec)
#define ints NAME(ints)
#define reals NAME(reals)
#define mask NAME(mask)
#define load NAME(load)
#define widened NAME(widened)
#define all NAME(all)
#define greater NAME(greater)
#define choose NAME(choose)
#define choose_int NAME(choose_int)

typedef double vec __attribute__((vector_size(LANES * 8)));
typedef long long ints __attribute__((vector_size(LANES * 8)));
typedef REAL reals __attribute__((vector_size(LANES * sizeof(REAL))));

enum { NAME(VECS) = WIDTH / LANES }; // independent accumulators
#define VECS NAME(VECS)

INLINE vec load(const double *p)
{
	vec v;
	memcpy(&v, p, sizeof v);
	return v;
}

INLINE vec all(double x) { return (vec){0} + x; }

#if LANES == 8 // compilers use mask registers only if told
typedef __mmask8 mask;
INLINE mask greater(vec a, vec b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ); }
INLINE vec choose(mask m, vec yes, vec no) { return (vec)_mm512_mask_blend_pd(m, (__m512d)no, (__m512d)yes); }
INLINE ints choose_int(mask m, ints yes, ints no) { return (ints)_mm512_mask_blend_epi64(m, (__m512i)no, (__m512i)yes); }
#else
typedef ints mask;
INLINE mask greater(vec a, vec b) { return (ints)(a > b); }
INLINE vec choose(mask m, vec yes, vec no) { return (vec)((m & (ints)yes) | (~m & (ints)no)); }
INLINE ints choose_int(mask m, ints yes, ints no) { return (m & yes) | (~m & no); }
#endif

INLINE vec widened(const REAL *p)
{
#if LANES == 8 && BITS == 32
	return (vec)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
	reals v;
	memcpy(&v, p, sizeof v);
	return __builtin_convertvector(v, vec);
#endif
}

TARGET static struct partner NAME(partner)(const double *g, const double *low, const double *diag, const REAL *ki, long n, double gi, double kii)
{
	vec gain[VECS], curve[VECS], most[VECS]; // the best d² and its curvature; the largest d
	ints at[VECS], index[VECS];
	for (int a = 0; a < VECS; a++) {
		gain[a] = most[a] = all(0);
		curve[a] = all(1);
		for (int l = 0; l < LANES; l++) {
			at[a][l] = -1;
			index[a][l] = a * LANES + l;
		}
	}
	for (long k = 0; k < n; k += WIDTH)
#pragma GCC unroll 8
		for (int a = 0; a < VECS; a++) {
			long i = k + a * LANES;
			vec d = gi - (load(g + i) + load(low + i));
			vec c = (kii + load(diag + i)) - 2 * widened(ki + i);
			c = choose(greater(c, all(0)), c, all(1e-12));
			most[a] = choose(greater(d, most[a]), d, most[a]);
			d = choose(greater(d, all(0)), d, all(0));
			d *= d;
			// d²/c > gain/curve without a division
			mask better = greater(d * curve[a], gain[a] * c);
			gain[a] = choose(better, d, gain[a]);
			curve[a] = choose(better, c, curve[a]);
			at[a] = choose_int(better, index[a], at[a]);
			index[a] += WIDTH;
		}
	struct partner r = {-1, 0};
	double best = 0;
	for (int a = 0; a < VECS; a++)
		for (int l = 0; l < LANES; l++) {
			double v = gain[a][l] / curve[a][l];
			if (at[a][l] >= 0 && (v > best || (v == best && at[a][l] < r.j))) {
				best = v;
				r.j = at[a][l];
			}
			if (most[a][l] > r.violation)
				r.violation = most[a][l];
		}
	return r;
}

TARGET static long NAME(update)(double *g, const double *up, const REAL *ki, const REAL *kj, long n, double step)
{
	vec best[VECS];
	ints at[VECS], index[VECS];
	for (int a = 0; a < VECS; a++) {
		best[a] = all(-INFINITY);
		for (int l = 0; l < LANES; l++)
			at[a][l] = index[a][l] = a * LANES + l;
	}
	for (long k = 0; k < n; k += WIDTH)
#pragma GCC unroll 8
		for (int a = 0; a < VECS; a++) {
			long i = k + a * LANES;
			vec v = load(g + i) - step * (widened(ki + i) - widened(kj + i));
			memcpy(g + i, &v, sizeof v);
			v += load(up + i);
			mask better = greater(v, best[a]);
			best[a] = choose(better, v, best[a]);
			at[a] = choose_int(better, index[a], at[a]);
			index[a] += WIDTH;
		}
	double most = -INFINITY;
	long i = 0;
	for (int a = 0; a < VECS; a++)
		for (int l = 0; l < LANES; l++)
			if (best[a][l] > most || (best[a][l] == most && at[a][l] < i)) {
				most = best[a][l];
				i = at[a][l];
			}
	return i;
}

TARGET static void NAME(add)(double *dst, double x, const REAL *row, long n)
{
	for (long k = 0; k < n; k += LANES) {
		vec v = load(dst + k) + x * widened(row + k);
		memcpy(dst + k, &v, sizeof v);
	}
}

// The sum is in the precision of the row, since it only shows whether all entries are finite.
TARGET static double NAME(sum)(const REAL *row, long n)
{
	reals s[VECS];
	double r = 0;
	for (int a = 0; a < VECS; a++)
		s[a] = (reals){0};
	for (long k = 0; k < n; k += WIDTH)
#pragma GCC unroll 8
		for (int a = 0; a < VECS; a++) {
			reals v;
			memcpy(&v, row + k + a * LANES, sizeof v);
			s[a] += v;
		}
	for (int a = 0; a < VECS; a++)
		for (int l = 0; l < LANES; l++)
			r += s[a][l];
	return r;
}

#if BITS == 64 // the rest does not depend on REAL

TARGET static struct edges NAME(look)(const double *own, const double *f, const double *u, double c, long n)
{
	struct edges r = {-INFINITY, -INFINITY, -1, -1};
	vec out = all(-INFINITY), in = out;
	ints out_at, in_at, index;
	for (int l = 0; l < LANES; l++) {
		out_at[l] = in_at[l] = -1;
		index[l] = l;
	}
	long k = 0;
	for (; k + LANES <= n; k += LANES) {
		vec g = 1 - load(own + k) + load(f + k), v = load(u + k);
		vec a = choose(greater(v, all(-c)), g, all(-INFINITY));
		vec b = choose(greater(all(0), v), -g, all(-INFINITY));
		mask better = greater(a, out);
		out = choose(better, a, out);
		out_at = choose_int(better, index, out_at);
		better = greater(b, in);
		in = choose(better, b, in);
		in_at = choose_int(better, index, in_at);
		index += LANES;
	}
	for (int l = 0; l < LANES; l++) {
		if (out[l] > r.out || (out[l] == r.out && out_at[l] < r.out_at)) {
			r.out = out[l];
			r.out_at = out_at[l];
		}
		if (in[l] > r.in || (in[l] == r.in && in_at[l] < r.in_at)) {
			r.in = in[l];
			r.in_at = in_at[l];
		}
	}
	for (; k < n; k++) {
		double g = 1 - own[k] + f[k];
		if (g > r.out && u[k] > -c) {
			r.out = g;
			r.out_at = k;
		}
		if (-g > r.in && u[k] < 0) {
			r.in = -g;
			r.in_at = k;
		}
	}
	return r;
}

TARGET static void NAME(pair)(double *g, double *up, double *low, const double *fa, const double *fb, const double *u, double sign, double c, long n)
{
	double *full = up, *empty = low; // for variables at -c and at 0
	double at_full = -INFINITY, at_empty = INFINITY;
	if (sign < 0) {
		full = low, empty = up;
		at_full = INFINITY, at_empty = -INFINITY;
	}
	long k = 0;
	for (; k + LANES <= n; k += LANES) {
		vec w = sign - load(fa + k) + load(fb + k), v = load(u + k);
		vec f = choose(greater(v, all(-c)), all(0), all(at_full));
		vec e = choose(greater(all(0), v), all(0), all(at_empty));
		memcpy(g + k, &w, sizeof w);
		memcpy(full + k, &f, sizeof f);
		memcpy(empty + k, &e, sizeof e);
	}
	for (; k < n; k++) {
		g[k] = sign - fa[k] + fb[k];
		full[k] = u[k] > -c ? 0 : at_full;
		empty[k] = u[k] < 0 ? 0 : at_empty;
	}
}

TARGET static void NAME(bracket)(double *most, double *least, const double *own, const double *f, const double *u, long n)
{
	long k = 0;
	for (; k + LANES <= n; k += LANES) {
		vec g = 1 - load(own + k) + load(f + k), m = load(most + k), l = load(least + k);
		vec h = choose(greater(all(0), load(u + k)), g, all(INFINITY));
		m = choose(greater(g, m), g, m);
		l = choose(greater(l, h), h, l);
		memcpy(most + k, &m, sizeof m);
		memcpy(least + k, &l, sizeof l);
	}
	for (; k < n; k++) {
		double g = 1 - own[k] + f[k];
		if (g > most[k])
			most[k] = g;
		if (u[k] < 0 && g < least[k])
			least[k] = g;
	}
}

#endif

#undef vec
#undef ints
#undef reals
#undef mask
#undef load
#undef widened
#undef all
#undef greater
#undef choose
#undef choose_int
#undef VECS
#undef INLINE
#undef NAME
#undef EXPAND
#undef CONCAT
#undef REAL
#undef BITS
