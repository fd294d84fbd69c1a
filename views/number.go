package views

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Short formats a value to four significant digits.
func Short(v float64) string { return Digits(v, 4) }

// Long formats a value to six significant digits.
func Long(v float64) string { return Digits(v, 6) }

// Digits formats a value to n significant digits.
func Digits(v float64, n int) string {
	if v == 0 { // also -0
		return "0"
	}
	format := byte('g')
	if size := math.Abs(v); math.Pow10(n) <= size && size < 1e6 {
		format, n = 'f', 0 // 10000, not 1e+04
	}
	return Minus(strconv.FormatFloat(v, format, n, 64))
}

// Counted returns a number with its noun: "1 feature", "2 features".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Minus replaces hyphens in formatted numbers by the minus sign used on pages.
func Minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// quoted matches text in the quotes of messages and of Go, but not JSON.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ (])"((?:[^"\\]|\\.)*)"`) })

// Sentence returns a message as pages print it: with a capital first letter, typographic quotes and
// a full stop.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	s = quoted().ReplaceAllString(s, "$1“$2”")
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
