//go:build cgo

package simd

/*
static int best(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#endif
	return 0;
}
*/
import "C"

func best() Level { return Level(C.best()) }
