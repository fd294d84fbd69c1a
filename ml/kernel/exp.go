package kernel

import "math"

// The exponential by table and polynomial: with n = round(x·256/ln 2) and
// r = x - n·ln2/256, exp(x) = 2^(n/256) · exp(r) where |r| <= ln2/512, so that
// four terms of the series leave an error below 4e-17. The method is from
// Tang, "Table-driven implementation of the exponential function in IEEE
// floating-point arithmetic", ACM TOMS 15 (1989).
const (
	expSteps = 256
	expShift = 0x1.8p52 // adding it rounds to an integer, held in the low bits

	// ln2/256 in two parts; the first has 32 significant bits, so its product
	// with n is exact.
	ln2Hi = 6.93147180369123816490e-01 / expSteps
	ln2Lo = 1.90821492927058770002e-10 / expSteps
)

// expTable holds the bits of 2^(i/256) minus i<<44, which adding n<<44 restores.
var expTable = func() (t [expSteps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(float64(i)/expSteps)) - uint64(i)<<44
	}
	return t
}()

// expScaled replaces every v by exp(a·v), to a relative error of about 3e-16.
func expScaled(v []float64, a float64) {
	for i, x := range v {
		x *= a
		if !(x >= -708 && x <= 708) { // subnormal, overflow or NaN
			v[i] = math.Exp(x)
			continue
		}
		n := x*(expSteps/math.Ln2) + expShift
		bits := math.Float64bits(n)
		n -= expShift
		r := x - n*ln2Hi - n*ln2Lo
		r2 := r * r
		p := math.Float64frombits(expTable[bits%expSteps] + bits<<44)
		v[i] = p + p*(r+r2*(0.5+r*(1./6)+r2*(1./24)))
	}
}
