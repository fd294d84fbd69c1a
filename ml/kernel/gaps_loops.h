// The loops for one kind of processor: see levels.h.

// FEW vectors of strings are processed together, to hide the latency of the sums.
enum { NAME(FEW) = LANES == 2 ? 4 : 2 };
#define FEW NAME(FEW)

// One strip of FEW * LANES strings. For A_p, B_p and R_p see subsequence.go.
INLINE void NAME(strip)(double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay)
{
	vec run[k - 1][FEW];    // R_p
	vec before[k - 1][FEW]; // B_p(i-1, j-1)
	vec total[FEW];
	for (int l = 0; l < FEW; l++)
		total[l] = load(sum + l * LANES);
	for (long i = 0; i < m; i++) {
		vec symbol[FEW]; // x_i
		for (int l = 0; l < FEW; l++)
			symbol[l] = load(x + i * WIDE + l * LANES);
		for (long p = 0; p < k - 1; p++)
			for (int l = 0; l < FEW; l++)
				run[p][l] = before[p][l] = (vec){0};
		double *at = b;
		for (long j = 0; j < n; j++) {
			ints match[FEW];
			vec a[FEW]; // A_p(i, j)
			for (int l = 0; l < FEW; l++) {
				match[l] = load(z + j * WIDE + l * LANES) == symbol[l];
				a[l] = (vec)(match[l] & (ints)((vec){0} + 1.0));
			}
			for (long p = 0; p < k - 1; p++, at += WIDE)
				for (int l = 0; l < FEW; l++) {
					vec above = load(at + l * LANES);
					run[p][l] = a[l] + decay * run[p][l];
					vec here = run[p][l] + decay * above;
					memcpy(at + l * LANES, &here, sizeof here);
					a[l] = (vec)(match[l] & (ints)before[p][l]);
					before[p][l] = above;
				}
			for (int l = 0; l < FEW; l++)
				total[l] += a[l];
		}
	}
	memcpy(sum, total, sizeof total);
}

TARGET static void NAME(gaps)(double *sum, double *b, const double *x, long m, const double *z, long n, long k, double decay)
{
	for (int l = 0; l < WIDE; l += FEW * LANES)
		switch (k) { // specialise the usual lengths
		case 2:
			NAME(strip)(sum + l, b + l, x + l, m, z + l, n, 2, decay);
			break;
		case 3:
			NAME(strip)(sum + l, b + l, x + l, m, z + l, n, 3, decay);
			break;
		case 4:
			NAME(strip)(sum + l, b + l, x + l, m, z + l, n, 4, decay);
			break;
		default:
			NAME(strip)(sum + l, b + l, x + l, m, z + l, n, k, decay);
		}
}

#undef FEW
