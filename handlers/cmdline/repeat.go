package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"marginlab/ml/repeat"
)

var repeatReport = Command{"repeat", "retrain everything in a report and compare the numbers", runRepeat}

func runRepeat(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("repeat FILE", "Retrains everything in a report and compares the numbers. FILE is the report.json of a report, with settings, data and results. Prints a line for each number; fails if one differs by more than rounding or if anything cannot be retrained.")
	path := f.Required("the file of a report")
	if err := f.Parse(args); err != nil {
		return err
	}
	file, err := readFile(ctx, *path, std, func(r io.Reader, name string) (*repeat.File, error) {
		file, err := repeat.Read(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return file, nil
	})
	if err != nil {
		return err
	}
	lines := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	total, differ := 0, 0
	var failed []error // failed tasks; the others are still compared
	for _, task := range file.Tasks {
		again, err := task.Run(ctx, file.Data)
		if ctx.Err() != nil { // interrupted results cannot be compared
			return errors.Join(lines.Flush(), ctx.Err())
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, c := range task.Compare(again) {
			total++
			verdict := "agrees"
			if !c.Agrees() {
				differ++
				verdict = "differs"
			}
			fmt.Fprintf(lines, "%s\t%s\t%g\t%g\t%s\n", c.Task, c.Name, c.Was, c.Is, verdict)
		}
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	if differ > 0 {
		failed = append(failed, fmt.Errorf("%d of %d numbers differ", differ, total))
	}
	if failed != nil {
		return errors.Join(failed...)
	}
	fmt.Fprintf(std.Out, "All %d numbers agree.\n", total)
	return nil
}
