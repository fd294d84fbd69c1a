// The Cholesky factorisation for one kind of processor. sweep.c includes this file
// for each, with KIND, TARGET and LANES as in sweep_loops.h.

#define CONCAT(a, b) a##_##b
#define EXPAND(a, b) CONCAT(a, b)
#define NAME(f) EXPAND(f, KIND)

#define vec NAME(wide)
typedef double vec __attribute__((vector_size(LANES * 8)));

enum { NAME(PARTS) = WIDTH / LANES };
#define PARTS NAME(PARTS)

TARGET static int NAME(cholesky)(double *a, long n, long first, long last, double *panel)
{
	// The columns from the first on, transposed, so that the loops run along them.
	long m = n - first, cols = last - first;
	a += first * n + first;
	for (long i = 0; i < m; i++)
		for (long p = 0; p < WIDTH; p++)
			panel[p * m + i] = a[i * n + p];
	for (long p = 0; p < WIDTH; p++) {
		double *column = panel + p * m;
		for (long q = 0; q < p; q++) {
			const double *earlier = panel + q * m;
			for (long i = 0; i < m; i += LANES) {
				vec v, w;
				memcpy(&v, column + i, sizeof v);
				memcpy(&w, earlier + i, sizeof w);
				v -= earlier[p] * w;
				memcpy(column + i, &v, sizeof v);
			}
		}
		if (!(column[p] > 0))
			return 0;
		double root = sqrt(column[p]);
		for (long i = 0; i < m; i++)
			column[i] /= root;
	}
	for (long i = 0; i < m; i++)
		for (long p = 0; p < WIDTH && p <= i; p++)
			a[i * n + p] = panel[p * m + i];

	// What is left of the columns, less the product of the panel with itself, four rows
	// and WIDTH columns at a time.
	for (long i = WIDTH; i < m; i += 4)
		for (long j = WIDTH; j < i + 4 && j < cols; j += WIDTH) {
			vec s[4][PARTS];
			for (int r = 0; r < 4; r++)
				memcpy(s[r], a + (i + r) * n + j, sizeof s[r]);
			for (long p = 0; p < WIDTH; p++) {
				vec c[PARTS];
				memcpy(c, panel + p * m + j, sizeof c);
#pragma GCC unroll 4
				for (int r = 0; r < 4; r++)
#pragma GCC unroll 8
					for (int b = 0; b < PARTS; b++)
						s[r][b] -= panel[p * m + i + r] * c[b];
			}
			for (int r = 0; r < 4; r++)
				memcpy(a + (i + r) * n + j, s[r], sizeof s[r]);
		}
	return 1;
}

#undef vec
#undef PARTS
#undef NAME
#undef EXPAND
#undef CONCAT
