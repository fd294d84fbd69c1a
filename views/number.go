package views

import (
	"strconv"
	"strings"

	"marginlab/ml/param"
)

// Short shows a value with four significant digits.
func Short(v float64) string { return Digits(v, 4) }

// Long shows a value with six significant digits.
func Long(v float64) string { return Digits(v, 6) }

// Digits shows a value with n significant digits.
func Digits(v float64, n int) string { return Minus(param.Digits(v, n)) }

// Counted counts things in words: "1 feature", "2 features".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Minus gives numbers as printed the sign that the pages use.
func Minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
