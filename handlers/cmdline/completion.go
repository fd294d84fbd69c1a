package cmdline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

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
		write := map[string]func([]completedCommand) string{"bash": bash, "zsh": zsh, "fish": fish}[*shell]
		if write == nil {
			return usage("expected bash, zsh or fish, not %q", *shell)
		}
		var all []completedCommand
		help := completedCommand{Name: "help", Summary: "list the flags of a command, or print a page of the manual", Args: topicNames()}
		for _, c := range table {
			help.Args = append(help.Args, c.Name)
			var of helpWanted
			if err := c.Run(ctx, []string{"--help"}, std); errors.As(err, &of) {
				all = append(all, completedCommand{c.Name, c.Summary, append(of.flags.words(), completedFlag{Name: "quiet", Help: "Print no notes or progress", Bare: true}), of.flags.args})
			}
		}
		all = append(all, completedCommand{Name: "completion", Summary: summary, Args: f.args}, completedCommand{Name: "man", Summary: "write man pages"}, help)
		_, err := io.WriteString(std.Out, write(all))
		return err
	}}
}

type completedCommand struct {
	Name, Summary string
	Flags         []completedFlag
	Args          []string // positional arguments; nil: files
}

type completedFlag struct {
	Name, Help string
	Options    []param.Option // choices; nil: any value, or none
	Bare       bool           // takes no value
}

// word returns the flag as it is typed.
func (f completedFlag) word() string { return "--" + f.Name }

// choices returns the names of the options.
func (f completedFlag) choices() []string {
	return lists.Map(f.Options, func(o param.Option) string { return o.Name })
}

func bash(all []completedCommand) string {
	var names []string
	var choices, flags, args strings.Builder
	for _, c := range all {
		names = append(names, c.Name)
		fmt.Fprintf(&flags, "\n      %s) words=%s ;;", c.Name, quoted(lists.Map(c.Flags, completedFlag.word)...))
		if c.Args != nil {
			fmt.Fprintf(&args, "\n      %s) words=%s ;;", c.Name, quoted(c.Args...))
		}
		for _, f := range c.Flags {
			if f.Options != nil {
				fmt.Fprintf(&choices, "\n    %s) words=%s ;;", quoted(c.Name, f.word()), quoted(f.choices()...))
			}
		}
	}
	return `_marginlab() {
  local words= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=` + quoted(names...) + `
  else
    case "${COMP_WORDS[1]} $prev" in` + choices.String() + `
    *) case "$cur" in -*) case "${COMP_WORDS[1]}" in` + flags.String() + `
    esac ;; *) case "${COMP_WORDS[1]}" in` + args.String() + `
    esac ;; esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _marginlab marginlab
`
}

func zsh(all []completedCommand) string {
	var names, choices, flags, args strings.Builder
	for _, c := range all {
		names.WriteString(" " + withHelp(c.Name, c.Summary))
		fmt.Fprintf(&flags, "\n      %s) words_=(", c.Name)
		for _, f := range c.Flags {
			flags.WriteString(" " + withHelp(f.word(), brief(f.Help)))
			if f.Options != nil {
				fmt.Fprintf(&choices, "\n    %s) words_=(", quoted(c.Name, f.word()))
				for _, o := range f.Options {
					choices.WriteString(" " + withHelp(o.Name, brief(o.Help)))
				}
				fmt.Fprintf(&choices, " ); _describe %s words_; return ;;", quoted(f.Name))
			}
		}
		flags.WriteString(" ) ;;")
		if c.Args != nil {
			fmt.Fprintf(&args, "\n    %s) words_=(%s); _describe argument words_ ;;", c.Name, strings.Join(c.Args, " "))
		}
	}
	return `#compdef marginlab
_marginlab() {
  local -a words_
  if (( CURRENT == 2 )); then
    words_=(` + names.String() + ` )
    _describe command words_
    return
  fi
  case "$words[2] $words[CURRENT-1]" in` + choices.String() + `
  esac
  if [[ $PREFIX == -* ]]; then
    case "$words[2]" in` + flags.String() + `
    esac
    _describe -o flag words_
    return
  fi
  case "$words[2]" in` + args.String() + `
  esac
  _files
}
if [[ $funcstack[1] == _marginlab ]]; then _marginlab "$@"; else compdef _marginlab marginlab; fi
`
}

func fish(all []completedCommand) string {
	var s strings.Builder
	for _, c := range all {
		fmt.Fprintf(&s, "complete -c marginlab -n __fish_use_subcommand -a %s -d %s\n", c.Name, quoted(c.Summary))
		of := "complete -c marginlab -n '__fish_seen_subcommand_from " + c.Name + "'"
		if c.Args != nil {
			fmt.Fprintf(&s, "%s -a %s\n", of, quoted(c.Args...))
		}
		for _, f := range c.Flags {
			s.WriteString(of + " -l " + f.Name)
			switch {
			case f.Options != nil:
				s.WriteString(" -x -a " + quoted(f.choices()...))
			case !f.Bare:
				s.WriteString(" -r")
			}
			if help := brief(f.Help); help != "" {
				s.WriteString(" -d " + quoted(help))
			}
			s.WriteString("\n")
		}
	}
	return s.String()
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

// quoted returns words in one pair of quotes.
func quoted(words ...string) string {
	return "'" + strings.ReplaceAll(strings.Join(words, " "), "'", "") + "'"
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
