// Sweeps over the vectors of the solver, see sweep.c and sweep.go.

// All vectors have a length that is a multiple of WIDTH.
enum { WIDTH = 16 };

struct partner {
	long j; // -1: none
	double violation;
};

struct partner partner32(const double *g, const double *low, const double *diag, const float *ki, long n, double gi, double kii);
struct partner partner64(const double *g, const double *low, const double *diag, const double *ki, long n, double gi, double kii);

long update32(double *g, const double *up, const float *ki, const float *kj, long n, double step);
long update64(double *g, const double *up, const double *ki, const double *kj, long n, double step);

void add32(double *dst, double a, const float *row, long n);
void add64(double *dst, double a, const double *row, long n);

double sum32(const float *row, long n);
double sum64(const double *row, long n);
