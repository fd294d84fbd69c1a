//go:build cgo

// The loops of sweep.go in gcc's vector types, which clang knows as well. They
// compile for every architecture; on x86 the same source is compiled for three
// generations of processors, and each call chooses.

#include <math.h>
#include <string.h>
#include "sweep.h"

typedef double vec __attribute__((vector_size(64)));
typedef long long bits __attribute__((vector_size(64)));
typedef float half __attribute__((vector_size(32)));

enum { LANES = 8, VECS = WIDTH / LANES }; // VECS accumulators that do not wait for each other

#define INLINE static inline __attribute__((always_inline))

INLINE vec load64(const double *p)
{
	vec v;
	memcpy(&v, p, sizeof v);
	return v;
}

INLINE vec load32(const float *p)
{
	half v;
	memcpy(&v, p, sizeof v);
	return __builtin_convertvector(v, vec);
}

INLINE vec all(double x) { return (vec){0} + x; }

INLINE vec choose(bits mask, vec yes, vec no) { return (vec)((mask & (bits)yes) | (~mask & (bits)no)); }

static const bits counting = {0, 1, 2, 3, 4, 5, 6, 7};

// The functions exist for single (32) and double (64) precision of the rows, and
// for each kind of processor.
#define FUNCTIONS(SIZE, REAL, NAME, TARGET) \
TARGET static struct partner partner##SIZE##_##NAME(const double *g, const double *low, const double *diag, const REAL *ki, long n, double gi, double kii) \
{ \
	vec gain[VECS], curve[VECS], most[VECS]; /* the best d^2 and its curvature; the largest d */ \
	bits at[VECS], index[VECS]; \
	for (int a = 0; a < VECS; a++) { \
		gain[a] = most[a] = all(0); \
		curve[a] = all(1); \
		index[a] = counting + a * LANES; \
		at[a] = index[a] - index[a] - 1; \
	} \
	for (long k = 0; k < n; k += WIDTH) \
		for (int a = 0; a < VECS; a++) { \
			long i = k + a * LANES; \
			vec d = gi - (load64(g + i) + load64(low + i)); \
			vec c = (kii + load64(diag + i)) - 2 * load##SIZE(ki + i); \
			c = choose(c > 0, c, all(1e-12)); \
			d = choose(d > 0, d, all(0)); \
			most[a] = choose(d > most[a], d, most[a]); \
			d *= d; \
			bits better = d * curve[a] > gain[a] * c; \
			gain[a] = choose(better, d, gain[a]); \
			curve[a] = choose(better, c, curve[a]); \
			at[a] = (better & index[a]) | (~better & at[a]); \
			index[a] += WIDTH; \
		} \
	struct partner r = {-1, 0}; \
	double best = 0; \
	for (int a = 0; a < VECS; a++) \
		for (int l = 0; l < LANES; l++) { \
			double v = gain[a][l] / curve[a][l]; \
			if (at[a][l] >= 0 && (v > best || (v == best && at[a][l] < r.j))) { \
				best = v; \
				r.j = at[a][l]; \
			} \
			if (most[a][l] > r.violation) \
				r.violation = most[a][l]; \
		} \
	return r; \
} \
TARGET static long update##SIZE##_##NAME(double *g, const double *up, const REAL *ki, const REAL *kj, long n, double step) \
{ \
	vec best[VECS]; \
	bits at[VECS], index[VECS]; \
	for (int a = 0; a < VECS; a++) { \
		best[a] = all(-INFINITY); \
		index[a] = counting + a * LANES; \
		at[a] = index[a]; \
	} \
	for (long k = 0; k < n; k += WIDTH) \
		for (int a = 0; a < VECS; a++) { \
			long i = k + a * LANES; \
			vec v = load64(g + i) - step * (load##SIZE(ki + i) - load##SIZE(kj + i)); \
			memcpy(g + i, &v, sizeof v); \
			v += load64(up + i); \
			bits better = v > best[a]; \
			best[a] = choose(better, v, best[a]); \
			at[a] = (better & index[a]) | (~better & at[a]); \
			index[a] += WIDTH; \
		} \
	double most = -INFINITY; \
	long i = 0; \
	for (int a = 0; a < VECS; a++) \
		for (int l = 0; l < LANES; l++) \
			if (best[a][l] > most || (best[a][l] == most && at[a][l] < i)) { \
				most = best[a][l]; \
				i = at[a][l]; \
			} \
	return i; \
} \
TARGET static void add##SIZE##_##NAME(double *dst, double x, const REAL *row, long n) \
{ \
	for (long k = 0; k < n; k += LANES) { \
		vec v = load64(dst + k) + x * load##SIZE(row + k); \
		memcpy(dst + k, &v, sizeof v); \
	} \
} \
TARGET static double sum##SIZE##_##NAME(const REAL *row, long n) \
{ \
	vec s[VECS]; \
	double r = 0; \
	for (int a = 0; a < VECS; a++) \
		s[a] = all(0); \
	for (long k = 0; k < n; k += WIDTH) \
		for (int a = 0; a < VECS; a++) \
			s[a] += load##SIZE(row + k + a * LANES); \
	for (int a = 0; a < VECS; a++) \
		for (int l = 0; l < LANES; l++) \
			r += s[a][l]; \
	return r; \
}

#define VERSIONS(NAME, TARGET) FUNCTIONS(32, float, NAME, TARGET) FUNCTIONS(64, double, NAME, TARGET)

VERSIONS(plain, )

#ifdef __x86_64__
VERSIONS(avx2, __attribute__((target("avx2,fma"))))
VERSIONS(avx512, __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))))

#define CHOOSE(NAME, ...) \
	(__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") ? NAME##_avx512(__VA_ARGS__) \
	 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")        ? NAME##_avx2(__VA_ARGS__) \
									          : NAME##_plain(__VA_ARGS__))
#else
#define CHOOSE(NAME, ...) NAME##_plain(__VA_ARGS__)
#endif

#define EXPORTED(SIZE, REAL) \
struct partner partner##SIZE(const double *g, const double *low, const double *diag, const REAL *ki, long n, double gi, double kii) \
{ return CHOOSE(partner##SIZE, g, low, diag, ki, n, gi, kii); } \
long update##SIZE(double *g, const double *up, const REAL *ki, const REAL *kj, long n, double step) \
{ return CHOOSE(update##SIZE, g, up, ki, kj, n, step); } \
void add##SIZE(double *dst, double a, const REAL *row, long n) \
{ CHOOSE(add##SIZE, dst, a, row, n); } \
double sum##SIZE(const REAL *row, long n) \
{ return CHOOSE(sum##SIZE, row, n); }

EXPORTED(32, float)
EXPORTED(64, double)
