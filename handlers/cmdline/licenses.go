package cmdline

import (
	"context"
	_ "embed" // the notices
	"io"
)

// notices holds the licences of linked packages, written by .ci/notices.
//
//go:embed notices.txt
var notices string

var licenses = Command{"licenses", "print the licences of the software that the program contains", func(_ context.Context, args []string, std Streams) error {
	f := NewFlags("licenses", "Prints the names, versions and licences of the software linked into the program.")
	if err := f.Parse(args); err != nil {
		return err
	}
	_, err := io.WriteString(std.Out, notices)
	return err
}}
