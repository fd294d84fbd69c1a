package cmdline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"marginlab/ml/param"
)

// completion is the command that writes what a shell needs to complete the commands of a
// table, their flags, and the values of flags that take one of a few.
func completion(table []Command) Command {
	return Command{"completion", "complete commands and flags in bash, zsh or fish", func(ctx context.Context, args []string, std Streams) error {
		f := NewFlags("completion bash|zsh|fish", "Writes a script that lets a shell complete commands, flags and their values. In bash and zsh: source <(marginlab completion bash), or zsh; in fish: marginlab completion fish | source.")
		shell := f.Argument()
		if err := f.Parse(args); err != nil {
			return err
		}
		write, ok := map[string]func(io.Writer, []completed){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[*shell]
		if !ok {
			return usage("expected bash, zsh or fish, not %q", *shell)
		}
		var all []completed
		for _, c := range table {
			var help helpWanted
			if err := c.Run(ctx, []string{"--help"}, std); errors.As(err, &help) {
				all = append(all, completed{c, append(help.flags.words(), flagWord{name: "quiet", bare: true})})
			}
		}
		write(std.Out, all)
		return nil
	}}
}

// completed is a command with its flags.
type completed struct {
	Command
	flags []flagWord
}

// flagWord is a flag as a shell completes it.
type flagWord struct {
	name   string
	values []string // of which it takes one; nil: others, or none
	bare   bool     // it takes none
}

func (c completed) flagNames() (names []string) {
	for _, f := range c.flags {
		names = append(names, "--"+f.name)
	}
	return names
}

// writeBash writes a function that looks at the word before: a flag of few values, or else a
// command, whose flags it proposes; files are for the shell.
func writeBash(w io.Writer, all []completed) {
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	fmt.Fprintf(w, "_marginlab() {\n  local words= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n")
	fmt.Fprintf(w, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words=%s\n  else\n    case \"${COMP_WORDS[1]} $prev\" in\n", shellWords(names...))
	for _, c := range all {
		for _, f := range c.flags {
			if f.values != nil {
				fmt.Fprintf(w, "    %s) words=%s ;;\n", shellWords(c.Name, "--"+f.name), shellWords(f.values...))
			}
		}
	}
	fmt.Fprintf(w, "    *) case \"$cur\" in -*) case \"${COMP_WORDS[1]}\" in\n")
	for _, c := range all {
		fmt.Fprintf(w, "      %s) words=%s ;;\n", c.Name, shellWords(c.flagNames()...))
	}
	fmt.Fprintf(w, "    esac ;; esac ;;\n    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _marginlab marginlab\n")
}

func writeZsh(w io.Writer, all []completed) {
	fmt.Fprintln(w, "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit")
	writeBash(w, all)
}

func writeFish(w io.Writer, all []completed) {
	for _, c := range all {
		fmt.Fprintf(w, "complete -c marginlab -n __fish_use_subcommand -a %s -d %s\n", c.Name, shellWords(c.Summary))
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c marginlab -n '__fish_seen_subcommand_from %s' -l %s", c.Name, f.name)
			switch {
			case f.values != nil:
				fmt.Fprintf(w, " -x -a %s", shellWords(f.values...))
			case !f.bare:
				fmt.Fprint(w, " -r")
			}
			fmt.Fprintln(w)
		}
	}
}

// shellWords are words in one pair of quotes.
func shellWords(words ...string) string {
	return "'" + strings.ReplaceAll(strings.Join(words, " "), "'", "") + "'"
}

// words are the flags as a shell completes them, in order.
func (f *Flags) words() (words []flagWord) {
	f.set.VisitAll(func(g *flag.Flag) {
		w := flagWord{name: g.Name}
		if b, ok := g.Value.(interface{ IsBoolFlag() bool }); ok {
			w.bare = b.IsBoolFlag()
		}
		var options []param.Option
		switch v := g.Value.(type) {
		case *paramFlag:
			options = v.p.Options
		case *listFlag:
			options = v.p.Options
		}
		for _, o := range options {
			w.values = append(w.values, o.Name)
		}
		words = append(words, w)
	})
	return words
}
