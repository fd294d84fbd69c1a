// Compiles the header named LOOPS for any processor and, on x86, for AVX2 and AVX-512, with
// these definitions:
//
//	KIND             suffix of the names for the processor, which NAME(f) appends to f
//	TARGET           attribute of the functions; part of INLINE
//	LANES            numbers in a vector
//	vec, ints, load  a vector of doubles, one of integers, and one of doubles from memory
//
// After it, CHOOSE(f, ...) calls f for the level simd of package simd.

#include <string.h>

#define CONCAT(a, b) a##_##b
#define EXPAND(a, b) CONCAT(a, b)
#define NAME(f) EXPAND(f, KIND)

#define INLINE TARGET static inline __attribute__((always_inline))

#define vec NAME(vec)
#define ints NAME(ints)
#define load NAME(load)

#define VECTORS \
	typedef double vec __attribute__((vector_size(LANES * 8))); \
	typedef long long ints __attribute__((vector_size(LANES * 8))); \
	INLINE vec load(const double *p) \
	{ \
		vec v; \
		memcpy(&v, p, sizeof v); \
		return v; \
	}

#define KIND plain
#define TARGET
#define LANES 2
VECTORS
#include LOOPS
#undef KIND
#undef TARGET
#undef LANES

#ifdef __x86_64__
#define KIND avx2
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
VECTORS
#include LOOPS
#undef KIND
#undef TARGET
#undef LANES

#define KIND avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define LANES 8
VECTORS
#include LOOPS
#undef KIND
#undef TARGET
#undef LANES

#define CHOOSE(f, ...) \
	if (simd == 2) \
		f##_avx512(__VA_ARGS__); \
	else if (simd == 1) \
		f##_avx2(__VA_ARGS__); \
	else \
		f##_plain(__VA_ARGS__)
#else
#define CHOOSE(f, ...) f##_plain(__VA_ARGS__)
#endif
