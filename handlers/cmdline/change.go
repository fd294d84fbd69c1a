package cmdline

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/study"
	"marginlab/views/figure"
)

var change = Command{"change", "show what would change the result of a two-class SVM", runChange}

func runChange(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("change FILE [flags]",
		"Prints the smallest changes of C and gamma that change a prediction, the support vectors whose removal moves the boundary most (the SVM is retrained without each), and how far the boundary moves under bootstrap samples. Movement is the share of grid points over the range of the data whose predicted class changes, or of rows with more than two features.")
	f.Heading("Files")
	data := f.Data("Labelled points in any format that fit reads; - reads standard input.")
	how := f.Reading()
	plot := f.Picture("plot", "File for a plot of the boundary with those of the bootstrap samples.")
	asJSON := f.Switch("json", "Print everything as one JSON object, at full precision.")
	spec := f.Spec(nil)
	d, err := f.points(ctx, "change", args, data, spec, how, std, plot)
	if err != nil {
		return err
	}
	p := progressOn(std)
	s, err := ml.Sense(ctx, d, *spec, p.tell)
	p.end()
	if err != nil {
		return err
	}
	if *plot != "" {
		band, err := figure.BandOf(figure.Run{Data: d, Spec: *spec}, s)
		if err != nil {
			return err
		}
		if err := writePicture(ctx, *plot, func() (*figure.Picture, error) { return band.Picture(ctx) }); err != nil {
			return err
		}
	}
	if *asJSON {
		return json.NewEncoder(std.Out).Encode(s)
	}
	return writeChange(std.Out, s)
}

// mostRemovals is the number of removals to print.
const mostRemovals = 10

// writeChange writes a table of flips, one of removals and a line about the samples.
func writeChange(w io.Writer, s *ml.Sensitivity) error {
	judged, places := lists.Either(s.HeldOut, "held-out", "training"), lists.Either(s.Plane, "grid points", "rows")
	flips := [][]string{{"parameter", "from", "to", judged + " rows that flip", "first", "was", "is"}}
	for _, f := range s.Flips {
		line := []string{f.Parameter, short(f.From), short(f.To), "none", "-", "-", "-"}
		if f.Row > 0 {
			line = []string{f.Parameter, short(f.From), short(f.To), strconv.Itoa(f.Rows), strconv.Itoa(f.Row), f.Was, f.Becomes}
		}
		flips = append(flips, line)
	}
	removals := [][]string{{"row", "label", "alpha", "moved", judged + " rows that flip"}}
	for _, r := range s.Removals[:min(len(s.Removals), mostRemovals)] {
		removals = append(removals, []string{strconv.Itoa(r.Row), r.Label, short(r.Alpha), percent(r.Moved), strconv.Itoa(r.Changed)})
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Nearest flips, up to a factor of ten\n\n")
	study.WriteColumns(b, flips)
	fmt.Fprintf(b, "\nWithout one support vector, %d of %d tried: share of %d %s that change, in %%\n\n", len(s.Removals), s.SupportVectors, s.Places, places)
	study.WriteColumns(b, removals)
	fmt.Fprintf(b, "\nUnder %d bootstrap samples: %s %% on average, %s %% at most\n", len(s.Samples), percent(stat.Mean(s.Samples, nil)), percent(slices.Max(s.Samples)))
	return b.Flush()
}
