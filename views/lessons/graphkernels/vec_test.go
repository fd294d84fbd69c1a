package graphkernels

import (
	"fmt"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/lessonstest"
)

// Both methods and the lab give the same value, and a product takes n^4 and 2n^3 multiplications.
func TestVecTrick(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 10; n++ {
		e := lessonstest.Show(t, Lesson(), "vec", "n", fmt.Sprint(n))
		number := func(label string) string { t.Helper(); return lessonstest.Number(t, e, label) }
		k := number("kernel, vec trick")
		formed := number(`kernel, $A_\times$ formed`)
		require.Check(t, formed == k && strings.HasSuffix(e.Numbers[5].Help, " "+k), "n = %d: %s formed, %s by the trick, %s", n, formed, k, e.Numbers[5].Help)
		var long, short int
		fmt.Sscan(number(`multiplications, $A_\times$ formed`), &long)
		fmt.Sscan(number("multiplications, vec trick"), &short)
		require.Check(t, long != 0 && long*2 == short*n && long%(n*n*n*n) == 0,
			"n = %d: %d multiplications and %d", n, long, short)
	}
}
