package param

import (
	"errors"
	"fmt"
)

// Refusal is a user-facing error: data and settings that are individually valid do not
// fit together, or have no solution. Other errors are faults of the program, for its
// log; see ForPerson.
type Refusal struct {
	Message string // what is wrong: "the kernel does not separate the classes"
	Remedy  string // what to do about it: "use a finite C"
}

// Refuse makes a Refusal with the message that the format gives.
func Refuse(remedy, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), remedy}
}

// Error returns the message, a semicolon and the remedy.
func (r *Refusal) Error() string { return r.Message + "; " + r.Remedy }

// Kind is "invalid", the kind of errors that the question itself is wrong.
func (r *Refusal) Kind() string { return "invalid" }

// ForPerson returns the message of a user-facing error without its wrapping, and false for other
// errors. User-facing are Problems and every error with a method Kind() string.
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
