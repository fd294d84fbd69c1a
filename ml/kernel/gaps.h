// Gap-weighted subsequences, see subsequence.go and gaps.c.

// Strings are compared with WIDE others at a time. Those are packed: WIDE first symbols,
// WIDE second ones, and so on, with -1 where a string has ended.
enum { WIDE = 16 };

// sum[l] += the weight of all pairs of occurrences of k >= 2 symbols that end with one of
// the m symbols x and one of the n symbols of the packed z_l. b holds (k-1) x n x WIDE
// numbers: zero before the first symbols of a string, and what a call leaves for the
// symbols that follow. simd is a level of package simd that the processor has.
void gaps_rows(int simd, double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay);
