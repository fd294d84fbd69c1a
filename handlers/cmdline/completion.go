package cmdline

import (
	"context"
	"embed"
	"errors"
	"flag"
	"strings"
	"text/template"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// completions holds the script of every shell, made of the completed commands.
//
//go:embed completion/*.tmpl
var completions embed.FS

// completion returns the command that writes a shell's completion script for the commands of a
// table, their flags, and the values of flags with few choices.
func completion(table []Command) Command {
	const summary = "complete commands and flags in bash, zsh or fish"
	return Command{"completion", summary, func(ctx context.Context, args []string, std Streams) error {
		f := NewFlags("completion bash|zsh|fish", "Prints a script that makes a shell complete commands, flags and their values. In bash and zsh: source <(marginlab completion bash), or zsh; in fish: marginlab completion fish | source.")
		shell := f.Argument("bash", "zsh", "fish")
		if err := f.Parse(args); err != nil {
			return err
		}
		script, err := template.New(*shell+".tmpl").Funcs(template.FuncMap{"quoted": quoted, "withHelp": withHelp, "brief": brief}).ParseFS(completions, "completion/*.tmpl")
		if err != nil {
			return err
		}
		if script.Tree == nil {
			return usage("expected bash, zsh or fish, not %q", *shell)
		}
		var all completed
		help := completedCommand{Name: "help", Summary: "list the flags of a command, or print a page of the manual", Args: topicNames()}
		for _, c := range table {
			help.Args = append(help.Args, c.Name)
			var of helpWanted
			if err := c.Run(ctx, []string{"--help"}, std); errors.As(err, &of) {
				all = append(all, completedCommand{c.Name, c.Summary, append(of.flags.words(), completedFlag{Name: "quiet", Help: "Print no notes or progress", Bare: true}), of.flags.args})
			}
		}
		all = append(all, completedCommand{Name: "completion", Summary: summary, Args: f.args}, completedCommand{Name: "man", Summary: "write man pages"}, help)
		return script.Execute(std.Out, all)
	}}
}

// completed holds the commands to complete.
type completed []completedCommand

// Names returns the names of the commands.
func (all completed) Names() []string {
	return lists.Map(all, func(c completedCommand) string { return c.Name })
}

// completedCommand is a command with its flags.
type completedCommand struct {
	Name, Summary string
	Flags         []completedFlag
	Args          []string // positional arguments; nil: files
}

// Words returns the flags as they are typed.
func (c completedCommand) Words() []string { return lists.Map(c.Flags, completedFlag.Word) }

// completedFlag is a flag to complete.
type completedFlag struct {
	Name, Help string
	Options    []param.Option // choices; nil: any value, or none
	Bare       bool           // takes no value
}

// Word returns the flag as it is typed.
func (f completedFlag) Word() string { return "--" + f.Name }

// Choices returns the names of the options.
func (f completedFlag) Choices() []string {
	return lists.Map(f.Options, func(o param.Option) string { return o.Name })
}

// brief returns the first sentence of a help text, up to a colon if any, without its full stop.
func brief(help string) string {
	help, _, _ = strings.Cut(help, ". ")
	help, _, _ = strings.Cut(help, ": ")
	return strings.TrimSuffix(help, ".")
}

// withHelp returns a word with its description in the format of zsh's _describe.
func withHelp(word, help string) string {
	return quoted(strings.ReplaceAll(word, ":", `\:`) + ":" + help)
}

// quoted returns words, or lists of them, in one pair of quotes.
func quoted(words ...any) string {
	var all []string
	for _, w := range words {
		if list, ok := w.([]string); ok {
			all = append(all, list...)
		} else {
			all = append(all, w.(string))
		}
	}
	return "'" + strings.ReplaceAll(strings.Join(all, " "), "'", "") + "'"
}

// words returns the flags to complete, in order.
func (f *Flags) words() (words []completedFlag) {
	f.set.VisitAll(func(g *flag.Flag) {
		w := completedFlag{Name: g.Name, Help: g.Usage}
		if b, ok := g.Value.(interface{ IsBoolFlag() bool }); ok {
			w.Bare = b.IsBoolFlag()
		}
		switch v := g.Value.(type) {
		case *paramFlag:
			w.Options = v.p.Options
		case *listFlag:
			w.Options = v.p.Options
		}
		words = append(words, w)
	})
	return words
}
