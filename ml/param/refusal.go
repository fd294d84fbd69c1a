package param

import (
	"errors"
	"fmt"
)

// Refusal is an error for the person who asked: data and settings that are fine
// each by itself do not go together, or have no answer. Any other error is a fault
// of the program, whose words are for its log; see ForPerson.
type Refusal struct {
	Message string // what is wrong: "the kernel does not separate the classes"
	Remedy  string // what to do about it: "use a finite C"
}

// Refuse makes a Refusal with the message that the format gives.
func Refuse(remedy, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), remedy}
}

// Error is the message with the remedy behind a semicolon.
func (r *Refusal) Error() string { return r.Message + "; " + r.Remedy }

// Kind is "invalid", the kind of errors that the question itself is wrong.
func (r *Refusal) Kind() string { return "invalid" }

// ForPerson returns the message of an error for the person who asked, without anything wrapped
// around it; false for an error that is not meant for people. Meant for people are
// Problems and every error that tells its kind by a method Kind() string.
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
