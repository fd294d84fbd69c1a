package results

import (
	"strings"
	"unicode/utf8"

	"marginlab/ml/param"
	"marginlab/views"
)

// UserMessage returns the message to show when a result is unavailable, for a user-facing
// error. Other errors are returned for Site.Handle.
func UserMessage(err error) (string, error) {
	if message, ok := param.ForPerson(err); ok {
		return Sentence(message), nil
	}
	return "", err
}

// FieldMessage returns the message to show beneath a field, "" if it has none: without the name of
// the field, which programs need.
func FieldMessage(problems param.Problems, field string) string {
	return Sentence(strings.TrimPrefix(problems.For(field), field+": "))
}

// Sentence returns s as views.Sentence does, without the package name with which older stored
// messages begin.
func Sentence(s string) string {
	for _, p := range []string{"svm: ", "mcm: ", "conformal: ", "kernel: "} {
		s = strings.TrimPrefix(s, p)
	}
	return views.Sentence(s)
}

// Capital returns text with a capital first letter, unless it begins with a symbol such as b, w₁ or
// |w|.
func Capital(text string) string {
	if first, _, _ := strings.Cut(text, " "); len(first) < 2 || first[1] >= utf8.RuneSelf {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
