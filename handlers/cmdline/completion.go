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

// completion returns the command that writes a shell's completion script for the commands of a
// table, their flags, and the values of flags with few choices.
func completion(table []Command) Command {
	return Command{"completion", "complete commands and flags in bash, zsh or fish", func(ctx context.Context, args []string, std Streams) error {
		f := NewFlags("completion bash|zsh|fish", "Writes a script that lets a shell complete commands, flags and their values. In bash and zsh: source <(marginlab completion bash), or zsh; in fish: marginlab completion fish | source.")
		shell := f.Argument("bash", "zsh", "fish")
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
				all = append(all, completed{c, append(help.flags.words(), flagWord{name: "quiet", help: "Write neither notes nor progress", bare: true}), help.flags.args})
			}
		}
		all = append(all, completed{Command: Command{Name: "completion", Summary: "complete commands and flags in bash, zsh or fish"}, args: f.args})
		all = append(all, completed{Command: Command{Name: "man", Summary: "write man pages"}})
		help := completed{Command: Command{Name: "help", Summary: "list the flags of a command, or print a page of the manual"}, args: topicNames()}
		for _, c := range table {
			help.args = append(help.args, c.Name)
		}
		all = append(all, help)
		write(std.Out, all)
		return nil
	}}
}

// completed is a command with its flags.
type completed struct {
	Command
	flags []flagWord
	args  []string // positional arguments; nil: files
}

// flagWord is a flag to complete.
type flagWord struct {
	name   string
	help   string
	values []param.Option // its choices; nil: anything, or no value
	bare   bool           // it takes none
}

// names returns the names of the values.
func (f flagWord) names() (names []string) {
	for _, o := range f.values {
		names = append(names, o.Name)
	}
	return names
}

// brief returns the first sentence of a help text, up to a colon if any, without its full stop.
func brief(help string) string {
	help, _, _ = strings.Cut(help, ". ")
	help, _, _ = strings.Cut(help, ": ")
	return strings.TrimSuffix(help, ".")
}

func (c completed) flagNames() (names []string) {
	for _, f := range c.flags {
		names = append(names, "--"+f.name)
	}
	return names
}

// writeBash writes a function that completes by the preceding word: the values of a flag, or the
// flags of a command; files are left to the shell.
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
				fmt.Fprintf(w, "    %s) words=%s ;;\n", shellWords(c.Name, "--"+f.name), shellWords(f.names()...))
			}
		}
	}
	fmt.Fprintf(w, "    *) case \"$cur\" in -*) case \"${COMP_WORDS[1]}\" in\n")
	for _, c := range all {
		fmt.Fprintf(w, "      %s) words=%s ;;\n", c.Name, shellWords(c.flagNames()...))
	}
	fmt.Fprintf(w, "    esac ;; *) case \"${COMP_WORDS[1]}\" in\n")
	for _, c := range all {
		if c.args != nil {
			fmt.Fprintf(w, "      %s) words=%s ;;\n", c.Name, shellWords(c.args...))
		}
	}
	fmt.Fprintf(w, "    esac ;; esac ;;\n    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _marginlab marginlab\n")
}

// writeZsh writes a function that does the same for zsh, with descriptions.
func writeZsh(w io.Writer, all []completed) {
	fmt.Fprint(w, "#compdef marginlab\n_marginlab() {\n  local -a words_\n  if (( CURRENT == 2 )); then\n    words_=(")
	for _, c := range all {
		fmt.Fprint(w, " ", withHelp(c.Name, c.Summary))
	}
	fmt.Fprint(w, " )\n    _describe command words_\n    return\n  fi\n  case \"$words[2] $words[CURRENT-1]\" in\n")
	for _, c := range all {
		for _, f := range c.flags {
			if f.values == nil {
				continue
			}
			fmt.Fprintf(w, "    %s) words_=(", shellWords(c.Name, "--"+f.name))
			for _, o := range f.values {
				fmt.Fprint(w, " ", withHelp(o.Name, brief(o.Help)))
			}
			fmt.Fprintf(w, " ); _describe %s words_; return ;;\n", shellWords(f.name))
		}
	}
	fmt.Fprint(w, "  esac\n  if [[ $PREFIX == -* ]]; then\n    case \"$words[2]\" in\n")
	for _, c := range all {
		fmt.Fprintf(w, "      %s) words_=(", c.Name)
		for _, f := range c.flags {
			fmt.Fprint(w, " ", withHelp("--"+f.name, brief(f.help)))
		}
		fmt.Fprintln(w, " ) ;;")
	}
	fmt.Fprint(w, "    esac\n    _describe -o flag words_\n    return\n  fi\n  case \"$words[2]\" in\n")
	for _, c := range all {
		if c.args != nil {
			fmt.Fprintf(w, "    %s) words_=(%s); _describe argument words_ ;;\n", c.Name, strings.Join(c.args, " "))
		}
	}
	fmt.Fprint(w, "  esac\n  _files\n}\nif [[ $funcstack[1] == _marginlab ]]; then _marginlab \"$@\"; else compdef _marginlab marginlab; fi\n")
}

// withHelp returns a word with its description in the format of zsh's _describe.
func withHelp(word, help string) string {
	return shellWords(strings.ReplaceAll(word, ":", `\:`) + ":" + help)
}

func writeFish(w io.Writer, all []completed) {
	for _, c := range all {
		fmt.Fprintf(w, "complete -c marginlab -n __fish_use_subcommand -a %s -d %s\n", c.Name, shellWords(c.Summary))
		if c.args != nil {
			fmt.Fprintf(w, "complete -c marginlab -n '__fish_seen_subcommand_from %s' -a %s\n", c.Name, shellWords(c.args...))
		}
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c marginlab -n '__fish_seen_subcommand_from %s' -l %s", c.Name, f.name)
			switch {
			case f.values != nil:
				fmt.Fprintf(w, " -x -a %s", shellWords(f.names()...))
			case !f.bare:
				fmt.Fprint(w, " -r")
			}
			if help := brief(f.help); help != "" {
				fmt.Fprintf(w, " -d %s", shellWords(help))
			}
			fmt.Fprintln(w)
		}
	}
}

// shellWords are words in one pair of quotes.
func shellWords(words ...string) string {
	return "'" + strings.ReplaceAll(strings.Join(words, " "), "'", "") + "'"
}

// words returns the flags to complete, in order.
func (f *Flags) words() (words []flagWord) {
	f.set.VisitAll(func(g *flag.Flag) {
		w := flagWord{name: g.Name, help: g.Usage}
		if b, ok := g.Value.(interface{ IsBoolFlag() bool }); ok {
			w.bare = b.IsBoolFlag()
		}
		switch v := g.Value.(type) {
		case *paramFlag:
			w.values = v.p.Options
		case *listFlag:
			w.values = v.p.Options
		}
		words = append(words, w)
	})
	return words
}
