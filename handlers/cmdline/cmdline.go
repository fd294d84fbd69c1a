// Package cmdline implements the commands of the terminal. Run looks up a command in a table, runs
// it and reports its error.
package cmdline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/simd"
	"marginlab/views/manual"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Command is one entry of the table of commands.
type Command struct {
	Name    string
	Summary string // half a line, lower case, without a full stop

	// Run runs the command. It writes results to Out and notes to Err. The caller reports its
	// error.
	Run func(ctx context.Context, args []string, std Streams) error
}

// Commands lists the commands of this package.
var Commands = []Command{fit, cv, path, change, studies, repeatReport, predict, exportModel, gram, generate, worker, backup, restore, check, purge, workspaces, licenses}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the work failed
	exitUsage  = 2 // wrong usage, independent of the files
)

// Run runs the command named by args, or the first of the table if there is none, and returns the
// exit code: 0 done, 1 the work failed, 2 usage. An error is one line on std.Err.
func Run(ctx context.Context, table []Command, args []string, std Streams) int {
	table = append(slices.Clip(table), completion(table))
	table = append(table, man(table))
	name := table[0].Name
	notes := std        // discarded if the command fails
	var topics []string // topics of help besides commands
	if i := slices.Index(args, "--quiet"); i >= 0 {
		args = slices.Delete(slices.Clone(args), i, i+1)
		notes.Err = io.Discard
	}
	switch {
	case len(args) == 0:
	case isHelp(args[0]) && len(args) > 1 && !isHelp(args[1]): // as in: help fit, help lab
		if topic, ok := manual.Find(args[1]); ok {
			printTopic(std.Out, topic)
			return exitDone
		}
		name, args = args[1], []string{"--help"}
		topics = topicNames()
	case isHelp(args[0]):
		fmt.Fprintf(std.Out, "Usage: marginlab [command] [flags]\n\n")
		out := bufio.NewWriter(std.Out)
		overview(terminal{out, columns(std.Out)}, table)
		_ = out.Flush() // an error means that nobody reads it
		return exitDone
	case strings.TrimLeft(args[0], "-") == "version", args[0] == "-V":
		fmt.Fprintln(std.Out, version())
		return exitDone
	case !strings.HasPrefix(args[0], "-"):
		name, args = args[0], args[1:]
	}
	i := slices.IndexFunc(table, func(c Command) bool { return c.Name == name })
	if i < 0 {
		names := lists.Map(table, func(c Command) string { return c.Name })
		names = append(names, topics...)
		fmt.Fprintf(std.Err, "marginlab: no command %q%s: expected one of %s; see marginlab --help\n", name, param.DidYouMean(name, "", names), strings.Join(names, ", "))
		return exitUsage
	}
	if _, err := simd.Chosen(); err != nil {
		fmt.Fprintf(std.Err, "marginlab: %s\n", err)
		return exitUsage
	}
	if os.Getenv("GOGC") == "" { // the first collection at 32 MB instead of 4, which most commands never reach; it restores the default
		usual := debug.SetGCPercent(800)
		runtime.AddCleanup(new([16]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
	}
	return report(name, table[i].Run(ctx, args, notes), std)
}

func isHelp(arg string) bool {
	return arg == "help" || strings.TrimLeft(arg, "-") == "help" || arg == "-h"
}

// overview prints the help of the program.
func overview(p printer, table []Command) {
	p.Paragraph("Margin Lab trains, shows and compares margin classifiers in the browser and from the terminal. Without a command it runs " + table[0].Name + ".")
	p.Heading(2, "Commands")
	for _, c := range table {
		p.Row(c.Name, c.Summary)
	}
	p.Heading(2, "Help")
	p.Term("help COMMAND", "List the flags of a command.")
	p.Term("help TOPIC", "Print a page of the manual.")
	p.Term("-V, --version", "Print the version and commit of the program.")
	p.Heading(2, "Topics")
	for _, t := range manual.Topics {
		p.Row(t.Slug, t.Summary)
	}
	p.Heading(2, "Flag of every command")
	p.Term("--quiet", "Print only the result and errors, no notes or progress.")
	p.Heading(2, "Environment")
	p.Term(simd.Variable, "Inner loops to use: plain, avx2 or avx512; default: the fastest that the processor supports. Results of plain differ from the others in the last digits.")
}

func topicNames() []string {
	return lists.Map(manual.Topics, func(t manual.Topic) string { return t.Slug })
}

// UsageError is a mistake in the command line itself.
type UsageError string

// Error returns the message.
func (e UsageError) Error() string { return string(e) }

func usage(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// helpWanted is returned if the command line asks for help.
type helpWanted struct{ flags *Flags }

// Error returns the text of the help.
func (h helpWanted) Error() string {
	var text strings.Builder
	h.flags.print(terminal{&text, 80})
	return text.String()
}

// report prints the error of a command and returns the exit code.
func report(name string, err error, std Streams) int {
	var help helpWanted
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &help):
		help.flags.print(terminal{std.Out, columns(std.Out)})
		return exitDone
	case errors.As(err, new(UsageError)):
		fmt.Fprintf(std.Err, "marginlab %s: %s; see marginlab %s --help\n", name, oneLine(err), name)
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(std.Err, "marginlab %s: interrupted\n", name)
		return exitFailed
	}
	fmt.Fprintf(std.Err, "marginlab %s: %s\n", name, oneLine(err))
	return exitFailed
}

// oneLine returns the message of an error without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
