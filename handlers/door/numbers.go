package door

import (
	"encoding/json"
	"math"
	"strconv"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/views"
)

// numbers turns a report into the rows of a table.
func numbers(r *ml.Report) (rows []views.Number) {
	for _, q := range ml.Quantities {
		if v := QuantityText(q, r); v != "" {
			rows = append(rows, views.Number{Name: q.Name, Label: q.Label, Value: v, Help: q.Help})
		}
	}
	return rows
}

// QuantityText is the quantity for reading, "" where it does not apply.
func QuantityText(q ml.Quantity, r *ml.Report) string {
	return q.Text(r, func(u ml.Unit, v float64) string {
		switch u {
		case ml.Share:
			return Percent(v)
		case ml.Seconds:
			return duration(v)
		}
		return views.Long(v)
	})
}

// QuantityNumber is a quantity to sort and to compare by, false where it does not
// apply or is no number.
func QuantityNumber(q ml.Quantity, r *ml.Report) (float64, bool) {
	if r == nil {
		return 0, false
	}
	switch v := q.Value(r).(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// Settings turns a spec into the rows of a table.
func Settings(s ml.Spec) (rows []views.Number) {
	for _, p := range ml.Params {
		if v := s.Text(p.Name); v != "" && s.Applies(p.Name) {
			rows = append(rows, views.Number{Name: p.Name, Label: p.Label, Value: OptionLabel(p, v), Help: p.Help})
		}
	}
	return rows
}

// OptionLabel is a parameter's value for reading.
func OptionLabel(p param.Param, v string) string {
	for _, o := range p.Options {
		if o.Name == v {
			return o.Label
		}
	}
	if p.Kind == param.Switch {
		return map[string]string{"true": "yes", "false": "no"}[v]
	}
	return v
}

// Percent is a share for reading: 0.5 is "50.0 %".
func Percent(v float64) string {
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

func duration(s float64) string {
	switch {
	case s < 1e-3:
		return strconv.FormatFloat(1e6*s, 'f', 0, 64) + " µs"
	case s < 1:
		return strconv.FormatFloat(1e3*s, 'f', 1, 64) + " ms"
	case s < 120:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	return strconv.FormatFloat(math.Round(s/60), 'f', 0, 64) + " min"
}

// remarks are sentences that a person needs beside the numbers.
func remarks(r *ml.Report, s ml.Spec) (notes []string) {
	if r.Status != "converged" {
		notes = append(notes, "The solver stopped before its stopping rule held, or where rounding does not let it hold ("+string(r.Status)+"): read the numbers as approximate.")
	}
	if r.Local != nil && *r.Local {
		notes = append(notes, "This kernel need not be positive semidefinite: the problem can be non-convex, with many local optima. Two starts far apart were tried and the better end was kept; there is no bound that proves it the best. Steps are guarded with τ = 1e-12 as in LIBSVM.")
	}
	if s.Values.Number("rho") == 0 && r.Rank != nil && *r.Rank >= r.TrainN && r.H != nil && *r.H < 1+1e-6 {
		notes = append(notes, "The kernel matrix has full rank, so f interpolates the labels: h = 1, no slack, and C has no effect. Raise the sparsity ρ for a sparse machine, or the rank cut for a smoother one.")
	}
	if r.SignChange != nil && *r.SignChange {
		note := "c(x) takes both signs on the training points."
		if row, err := kernel.Lookup(s.Kernel); err == nil && row.PSD {
			note += " The kernel is still positive semidefinite."
		}
		notes = append(notes, note)
	}
	if s.Targets() && r.Cores != nil {
		if *r.Cores == r.TrainN {
			notes = append(notes, "Every training point has a weight and so is a core of the map. Set cores to N to take every N-th row.")
		}
		if r.LOOAccuracy != nil {
			notes = append(notes, "The leave-one-out numbers promise too much here: the map was fitted to all points, also to the one that is left out.")
		}
	}
	if !s.Values.Switch("hard_margin") && r.Free != nil && *r.Free == 0 {
		notes = append(notes, "No support vector is free, so b is only known up to an interval; its middle is used.")
	}
	return notes
}

// ToJSON is a value for the script of a page.
func ToJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
