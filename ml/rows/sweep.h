// Sweeps over the vectors of the solver, see sweep.c and sweep.go.

// All vectors have a length that is a multiple of WIDTH.
enum { WIDTH = 16 };

struct partner {
	long j; // -1: none
	double violation;
};

// simd is a level of package simd that the processor has.
struct partner partner32(int simd, const double *g, const double *low, const double *diag, const float *ki, long n, double gi, double kii);
struct partner partner64(int simd, const double *g, const double *low, const double *diag, const double *ki, long n, double gi, double kii);

long update32(int simd, double *g, const double *up, const float *ki, const float *kj, long n, double step);
long update64(int simd, double *g, const double *up, const double *ki, const double *kj, long n, double step);

void add32(int simd, double *dst, double a, const float *row, long n);
void add64(int simd, double *dst, double a, const double *row, long n);

double sum32(int simd, const float *row, long n);
double sum64(int simd, const double *row, long n);
