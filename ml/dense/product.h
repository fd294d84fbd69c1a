// The matrix product, see product.c.

// dst += sign op(a) b by rows, op(a) m x k, b k x n; op(a)(i, p) is a[i down + p across].
// simd is a level of package simd that the processor supports. Returns 0 if there is no memory for
// the packed blocks.
int product_add(int simd, double *dst, long stride, double sign, const double *a, long down, long across, const double *b, long b_stride, long m, long n, long k);
