// Gap-weighted subsequences, see subsequence.go and gaps.c.

// WIDE pairs of strings are compared at a time. The strings of each side are packed: WIDE
// first symbols, WIDE second symbols, and so on, padded with -1 in z and -2 in x, which equal
// no symbol of the other side.
enum { WIDE = 16 };

// sum[l] += the weight of all pairs of occurrences of k >= 2 symbols that end with one of
// the m symbols of the packed x_l and one of the n symbols of the packed z_l. b holds
// (k-1) x n x WIDE numbers: zero before the first symbols of x, and kept between calls for
// consecutive parts of x. simd is a level of package simd that the processor supports.
void gaps_rows(int simd, double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay);
