package cmdline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"marginlab/views/manual"
)

// man returns the command that writes man pages: of the program, of each command, from the same
// tables as --help, and of each topic of the manual.
func man(table []Command) Command {
	return Command{"man", "write man pages", func(ctx context.Context, args []string, std Streams) error {
		f := NewFlags("man DIR", "Writes man pages into a directory: marginlab.1, a page for each command such as marginlab-fit.1, and a page for each topic of the manual such as marginlab-lab.7. The directory is created if missing. To read one: man -l DIR/marginlab.1.")
		dir := f.Required("the directory to write to")
		if err := f.Parse(args); err != nil {
			return err
		}
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return err
		}
		write := func(name string, section int, summary string, body func(r roff)) error {
			var b strings.Builder
			r := roff{&b, name}
			fmt.Fprintf(r.w, ".TH \"%s\" %d \"\" \"Margin Lab\" \"Margin Lab\"\n.SH NAME\n%s \\- %s\n", r.text(strings.ToUpper(r.name)), section, r.text(r.name), r.text(summary))
			body(r)
			return os.WriteFile(filepath.Join(*dir, fmt.Sprintf("%s.%d", name, section)), []byte(b.String()), 0o644)
		}
		err := write("marginlab", 1, "a laboratory for margin classifiers", func(r roff) { overview(r, table) })
		for _, c := range table {
			var help helpWanted
			if failed := c.Run(ctx, []string{"--help"}, std); !errors.As(failed, &help) {
				return fmt.Errorf("no help for %s: %w", c.Name, failed)
			}
			err = errors.Join(err, write("marginlab-"+c.Name, 1, c.Summary, func(r roff) {
				help.flags.print(r)
				r.Heading(2, "See also")
				r.Paragraph("marginlab(1)")
			}))
		}
		for _, t := range manual.Topics {
			err = errors.Join(err, write("marginlab-"+t.Slug, 7, t.Summary, func(r roff) { t.Print(untitled{r}) }))
		}
		return err
	}}
}

// untitled omits the title of a topic, since a man page has a head of its own.
type untitled struct{ roff }

func (u untitled) Heading(level int, text string) {
	if level == 1 {
		text = "Description"
	}
	u.roff.Heading(level, text)
}
