package dataset

import (
	"math"
	"math/bits"
)

// packed is a text in eight bytes: a decimal number as its digits, any other text as its place in
// a larger one.
type packed uint64

// A decimal number has, after isDecimal, the sign, five bits for the number of decimals, and whole,
// the number without its point. A place has the bit isOwn and the offset and length, 31 bits each.
const (
	isDecimal  packed = 1 << 63
	isNegative packed = 1 << 62
	isOwn      packed = 1 << 62
	wholeBits         = 57
	lengthBits        = 31
)

// pack packs a text that begins at offset at of a larger one; 0 stands for the empty text.
func pack(text string, at int) packed {
	if p, to, plain := cutDecimal(text, 0); plain && to == len(text) {
		return p
	}
	if text == "" { // its offset need not fit
		return 0
	}
	return packed(at<<lengthBits | len(text))
}

// cutDecimal reads a decimal number without an exponent at offset from, and returns the offset after
// it, or 0 if there is no number or it has too many digits. plain reports that p.text returns its text.
func cutDecimal(s string, from int) (p packed, to int, plain bool) {
	p, plain = isDecimal, true
	if from < len(s) {
		minus := 0
		if s[from] == '-' { // no branch: signs are hard to predict
			minus = 1
		}
		p |= packed(minus) * isNegative
		if plain = s[from] != '+'; !plain {
			from++
		}
		from += minus
	}
	whole, to := uint64(0), from
	for ; to < len(s) && s[to]-'0' <= 9; to++ { // usually few
		if to == from+3 {
			whole, to = cutDigits(s, to, whole)
			break
		}
		whole = 10*whole + uint64(s[to]-'0')
	}
	digits, decimals := to-from, 0
	plain = plain && (digits == 1 || digits > 1 && s[from] != '0')
	if to < len(s) && s[to] == '.' {
		point := to
		whole, to = cutDigits(s, point+1, whole)
		decimals = to - point - 1
		digits += decimals
		plain = plain && decimals > 0
	}
	const most = 19 // digits: any such number fits in 64 bits
	if digits == 0 || digits > most || decimals >= len(powersOfTen) || whole >= 1<<wholeBits {
		return 0, from, false
	}
	return p | packed(decimals)<<wholeBits | packed(whole), to, plain
}

// cutDigits appends the digits at an offset of a text to a number, and returns the offset after them.
func cutDigits(s string, from int, before uint64) (v uint64, to int) {
	for v, to = before, from; to+8 <= len(s); {
		const each = 0x0101010101010101
		t := s[to : to+8]
		x := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		x ^= '0' * each                              // the bytes of digits are now 0 to 9
		other := (x + 0x76*each | x) & (0x80 * each) // the lowest bit set belongs to the first byte that is not a digit
		n := bits.TrailingZeros64(other) / 8
		x <<= 64 - 8*n // only the digits, preceded by zeros
		const fours = 0x000000ff000000ff
		x = 10*x + x>>8 // two-digit numbers in every other byte
		x = (x&fours*(100+1_000_000<<32) + x>>16&fours*(1+10_000<<32)) >> 32
		v, to = v*powersOfTen[n]+x, to+n
		if n < 8 {
			return v, to
		}
	}
	for to < len(s) && s[to]-'0' <= 9 {
		v, to = 10*v+uint64(s[to]-'0'), to+1
	}
	return v, to
}

// decimals returns the number of digits after the point.
func (p packed) decimals() int { return int(p >> wholeBits & 31) }

// value returns the float64 nearest to a decimal number; -0 becomes 0.
func (p packed) value() float64 {
	whole := p & (1<<wholeBits - 1)
	if whole >= 1<<53 {
		return p.signed(quotient(uint64(whole), powersOfTen[p.decimals()]))
	}
	return p.signed(float64(int64(whole)) / exactPowers[p>>wholeBits&31]) // both are exact, so the quotient is rounded only once
}

// signed gives the nonnegative v the sign of a decimal number; -0 becomes 0. It has no branch,
// because signs are hard to predict.
func (p packed) signed(v float64) float64 {
	return math.Float64frombits(math.Float64bits(v)|uint64(p&isNegative)<<1) + 0
}

// text returns a decimal number as text: the digits of whole, padded with zeros if there are too few,
// and the point before the decimals.
func (p packed) text() string {
	var b [24]byte
	at, rest := len(b), p&(1<<wholeBits-1)
	for k := 0; k <= p.decimals() || rest > 0; k++ {
		if k == p.decimals() && k > 0 {
			at--
			b[at] = '.'
		}
		at--
		b[at], rest = byte('0'+rest%10), rest/10
	}
	if p&isNegative != 0 {
		at--
		b[at] = '-'
	}
	return string(b[at:])
}

// powersOfTen holds the divisors, indexed by the number of digits after the point.
var powersOfTen = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// exactPowers holds powersOfTen as floating-point numbers, with room for every five-bit index.
var exactPowers = [1 << 5]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// quotient returns the float64 nearest to a/b for positive a and b.
func quotient(a, b uint64) float64 {
	m, n := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a, b = a<<m, b<<n // between 2^63 and 2^64
	q, rest := bits.Div64(a>>1, a<<63, b)
	if rest > 0 {
		q |= 1 // q has 62 bits or more: the last is far below the rounding and only says that the remainder is not zero
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+n-m)<<52)
}
