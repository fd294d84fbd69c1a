// The loops for one kind of processor. product.c includes this file for each, with
// these defined:
//
//	KIND    suffix of the names for the processor
//	TARGET  attribute of the functions
//	LANES   numbers in a vector

#define CONCAT(a, b) a##_##b
#define EXPAND(a, b) CONCAT(a, b)
#define NAME(f) EXPAND(f, KIND)

#define vec NAME(vec)
#define tile NAME(tile)

typedef double vec __attribute__((vector_size(LANES * 8)));
enum { NAME(WIDE) = VECS * LANES }; // columns of a tile
#define WIDE NAME(WIDE)

// Adds the product of TALL packed rows and WIDE packed columns to dst, but only the given
// number of rows and columns.
TARGET static inline void tile(double *dst, long stride, const double *a, const double *b, long rows, long cols, long k)
{
	vec s[TALL][VECS] = {{{0}}};
	for (long p = 0; p < k; p++, a += TALL, b += WIDE) {
		vec row[VECS];
		for (int j = 0; j < VECS; j++) // copying the whole array would not use registers
			memcpy(&row[j], b + j * LANES, sizeof row[j]);
		for (int i = 0; i < TALL; i++)
			for (int j = 0; j < VECS; j++)
				s[i][j] += a[i] * row[j];
	}
	double v[TALL * WIDE];
	memcpy(v, s, sizeof v);
	for (long i = 0; i < rows; i++)
		for (long j = 0; j < cols; j++)
			dst[i * stride + j] += v[i * WIDE + j];
}

// pa is memory for a packed block of a, pb for one of b, both padded with zeros.
TARGET static void NAME(add)(double *dst, long stride, double sign, const double *a, long down, long across, const double *b, long b_stride, long m, long n, long k, double *pa, double *pb)
{
	for (long p0 = 0; p0 < k; p0 += DEEP) {
		long deep = k - p0 < DEEP ? k - p0 : DEEP;
		double *to = pb;
		for (long j0 = 0; j0 < n; j0 += WIDE)
			for (long p = 0; p < deep; p++)
				for (long j = j0; j < j0 + WIDE; j++)
					*to++ = j < n ? b[(p0 + p) * b_stride + j] : 0;
		for (long i0 = 0; i0 < m; i0 += ROWS) {
			long rows = m - i0 < ROWS ? m - i0 : ROWS;
			to = pa;
			for (long i1 = 0; i1 < rows; i1 += TALL)
				for (long p = 0; p < deep; p++)
					for (long i = i1; i < i1 + TALL; i++)
						*to++ = i < rows ? sign * a[(i0 + i) * down + (p0 + p) * across] : 0;
			for (long j = 0; j < n; j += WIDE)
				for (long i = 0; i < rows; i += TALL)
					tile(dst + (i0 + i) * stride + j, stride, pa + i * deep, pb + j * deep,
						rows - i < TALL ? rows - i : TALL, n - j < WIDE ? n - j : WIDE, deep);
		}
	}
}

#undef vec
#undef tile
#undef WIDE
#undef NAME
#undef EXPAND
#undef CONCAT
#undef KIND
#undef TARGET
#undef LANES
