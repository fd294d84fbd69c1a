// Package kernel implements kernel functions, their Gram matrices and their sums
// over a plane, with LIBSVM's parameterisation. Each kernel has its own file with its
// table entry, parameters and values.
package kernel

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Kernel is a kernel function: the name of its entry of Table, the values of its parameters, and
// the state fitted to the training set, see Fit. A missing value is 0 or off. A Kernel round-trips
// through JSON exactly.
type Kernel struct {
	Name   string
	Values param.Values
	Fitted []Fitted // one for each part that is fitted
}

// Validate returns an error for an unknown kernel or parameter, or a value out of bounds. A number
// that replaced a word such as auto may exceed the upper bound for user input.
func (k Kernel) Validate() error {
	row, err := Lookup(k.Name)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(k.Values)) {
		if !known(name) {
			return fmt.Errorf("kernel %s: unknown field %q", row.Name, name)
		}
	}
	for _, p := range row.Params {
		if len(p.Words) > 0 {
			p.Words, p.Max = nil, math.MaxFloat64
		}
		if p.Syntax = nil; p.Name == expressionParam.Name {
			e, err := k.expression()
			if err != nil {
				return err
			}
			for _, part := range e.parts {
				if err := part.Validate(); err != nil {
					return err
				}
			}
		}
		v := k.Values[p.Name]
		if v == (param.Value{}) {
			v = zero(p)
		}
		if err := p.Verify(v); err != nil {
			return fmt.Errorf("kernel %s: %w", row.Name, err)
		}
	}
	return nil
}

// MarshalJSON writes a flat object, {"name":"rbf","gamma":0.5}, in the order of the entry's Params.
// Zeros are omitted.
func (k Kernel) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(k.Name)
	if err != nil {
		return nil, err
	}
	text = append([]byte(`{"name":`), text...)
	names := slices.Sorted(maps.Keys(k.Values)) // for an unknown kernel
	if row, err := Lookup(k.Name); err == nil {
		names = lists.Map(row.Params, func(p param.Param) string { return p.Name })
	}
	for _, name := range names {
		v := k.Values[name]
		if v == (param.Value{}) || v == param.Of(0) || v == param.Of(false) {
			continue
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %s: %w", k.Name, name, err)
		}
		text = fmt.Appendf(text, ",%q:%s", name, value)
	}
	if len(k.Fitted) > 0 {
		fitted, err := json.Marshal(k.Fitted)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: fitted: %w", k.Name, err)
		}
		text = fmt.Appendf(text, ",\"fitted\":%s", fitted)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON. It ignores parameters of other kernels. It leaves
// unknown names and bounds to Validate, so that stored kernels stay readable.
func (k *Kernel) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	*k = Kernel{}
	if text, ok := fields["fitted"]; ok {
		if err := json.Unmarshal(text, &k.Fitted); err != nil {
			return fmt.Errorf("kernel: fitted: %w", err)
		}
		delete(fields, "fitted")
	}
	values := param.Values{}
	for name, text := range fields {
		var v param.Value
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("kernel: %s: %w", name, err)
		}
		values[name] = v
	}
	k.Name = values.Text("name")
	delete(values, "name")
	own, err := Lookup(k.Name)
	for _, p := range own.Params {
		k.Values = k.Values.With(p.Name, zero(p))
	}
	for name, v := range values {
		if err != nil || param.Contains(own.Params, name) || !known(name) {
			k.Values = k.Values.With(name, v)
		}
	}
	return nil
}

// zero returns the value of an omitted parameter.
func zero(p param.Param) param.Value {
	if p.Kind == param.Switch {
		return param.Of(false)
	}
	return param.Of(0)
}

// known reports whether a kernel of Table has the parameter.
func known(name string) bool {
	return slices.ContainsFunc(Table, func(r Entry) bool { return param.Contains(r.Params, name) })
}

// Definite reports whether every Gram matrix of k is known to be positive semidefinite.
func (k Kernel) Definite() bool {
	e, err := k.expression()
	return err == nil && e.definite(e.root)
}

// Check returns an error if k cannot be evaluated (at points with d coordinates, if it takes
// vectors): an unknown name, an invalid expression, or missing fitted state.
func (k Kernel) Check(d int) error {
	e, err := k.expression()
	if err != nil {
		return err
	}
	if want, got := e.learns(), len(k.Fitted); want != got {
		return fmt.Errorf("kernel %s: fitted: expected %d mixtures learnt from the training rows, found %d", k.Name, want, got)
	}
	for _, f := range k.Fitted {
		if err := f.check(d); err != nil {
			return fmt.Errorf("kernel %s: fitted: %w", k.Name, err)
		}
	}
	return nil
}

// Eval returns k(x, z) for x and z of equal length, or NaN for a kernel that Check rejects.
func (k Kernel) Eval(x, z []float64) float64 {
	return NewSum(k, mat.NewDense(1, len(z), slices.Clone(z)), []float64{1}).At(x)
}
