package param

import (
	"errors"
	"fmt"
)

// Refusal is a user-facing error: data and settings that are individually valid do not fit
// together, or have no solution. See ForPerson.
type Refusal struct {
	Message string // what is wrong: "the kernel does not separate the classes"
	Remedy  string // what to do about it: "use a finite C"
}

// Refuse returns a Refusal with a formatted message.
func Refuse(remedy, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), remedy}
}

// Error returns the message, a semicolon and the remedy.
func (r *Refusal) Error() string { return r.Message + "; " + r.Remedy }

// Kind returns "invalid": the input is at fault, not the program.
func (r *Refusal) Kind() string { return "invalid" }

// ForPerson returns the message to show a user for err, without its wrapping. ok is false if err is
// not user-facing: neither Problems nor an error with a method Kind() string.
func ForPerson(err error) (message string, ok bool) {
	var problems Problems
	var kind interface {
		error
		Kind() string
	}
	switch {
	case errors.As(err, &problems):
		return problems.Error(), true
	case errors.As(err, &kind):
		return kind.Error(), true
	}
	return "", false
}
