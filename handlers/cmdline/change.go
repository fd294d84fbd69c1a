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
	"marginlab/views/figure"
)

var change = Command{"change", "find what would change the result of a two-class SVM", runChange}

func runChange(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("change FILE [flags]",
		"Prints the smallest changes of C and gamma that change a prediction, the support vectors whose removal moves the boundary most, each left out and the SVM trained again, and how far the boundary moves under bootstrap samples. It moves by the share of a grid over the range of the data, or with more than two features of the rows, whose predicted class changes.")
	f.Heading("Files")
	data := f.Data("Labelled points, as fit reads them. The name - stands for standard input.")
	how := f.Reading()
	plot := f.Picture("plot", "Where to draw the boundary with those of the bootstrap samples.")
	asJSON := f.Switch("json", "Print all as one JSON object, at full precision.")
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
		if err := writePicture(*plot, band.Picture); err != nil {
			return err
		}
	}
	if *asJSON {
		return json.NewEncoder(std.Out).Encode(s)
	}
	return writeChange(std.Out, s)
}

// mostRemovals is the number of removals printed.
const mostRemovals = 10

// writeChange writes a table of flips, one of removals and a line on the samples.
func writeChange(w io.Writer, s *ml.Sensitivity) error {
	judged, places := "training", "rows"
	if s.HeldOut {
		judged = "held-out"
	}
	if s.Plane {
		places = "grid points"
	}
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
	writeTable(b, flips)
	fmt.Fprintf(b, "\nWithout one support vector, %d of %d tried: share of %d %s that change, in %%\n\n", len(s.Removals), s.SupportVectors, s.Places, places)
	writeTable(b, removals)
	fmt.Fprintf(b, "\nUnder %d bootstrap samples: %s %% on average, %s %% at most\n", len(s.Samples), percent(stat.Mean(s.Samples, nil)), percent(slices.Max(s.Samples)))
	return b.Flush()
}
