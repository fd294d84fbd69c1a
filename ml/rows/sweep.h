// Sweeps over the vectors of the solver, see sweep.c and sweep.go.

// All vectors have a length that is a multiple of WIDTH.
enum { WIDTH = 16 };

struct partner {
	long j; // -1: none
	double violation;
};

// simd is a level of package simd that the processor supports.
struct partner partner32(int simd, const double *g, const double *low, const double *diag, const float *ki, long n, double gi, double kii);
struct partner partner64(int simd, const double *g, const double *low, const double *diag, const double *ki, long n, double gi, double kii);

long update32(int simd, double *g, const double *up, const float *ki, const float *kj, long n, double step);
long update64(int simd, double *g, const double *up, const double *ki, const double *kj, long n, double step);

void add32(int simd, double *dst, double a, const float *row, long n);
void add64(int simd, double *dst, double a, const double *row, long n);

double sum32(int simd, const float *row, long n);
double sum64(int simd, const double *row, long n);

void add_each32(int simd, double *dst, long stride, const double *a, long k, const float *row, long n);
void add_each64(int simd, double *dst, long stride, const double *a, long k, const double *row, long n);

// The loops over the functions of classes: n is any number.

struct edges {
	double out, in;
	long out_at, in_at; // -1: none
};

struct edges look(int simd, const double *own, const double *f, const double *u, double c, long n);
void pair(int simd, double *g, double *up, double *low, const double *fa, const double *fb, const double *u, double sign, double c, long n);
void bracket(int simd, double *most, double *least, const double *own, const double *f, const double *u, long n);
