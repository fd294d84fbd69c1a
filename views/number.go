package views

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"marginlab/ml/param"
)

// Short formats a value to four significant digits.
func Short(v float64) string { return param.Digits(v, 4) }

// Long formats a value to six significant digits.
func Long(v float64) string { return param.Digits(v, 6) }

// Counted returns a number with its noun: "1 feature", "2 features".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// quoted matches text in the quotes of messages and of Go, but not JSON.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ (])"((?:[^"\\]|\\.)*)"`) })

// fileFirst matches a message that begins with the name of a file: "my points.csv, line 4: no label".
var fileFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^:“]*\.\d*[A-Za-z]\w*(:|, line |, column )`) })

// Sentence returns a message as pages print it: with a capital first letter, unless it begins with the
// name of a file, typographic quotes and a full stop.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	s = quoted().ReplaceAllString(s, "$1“$2”")
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError || fileFirst().MatchString(s) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
