package ml

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"marginlab/ml/param"
)

// reportFields is Report without its methods.
type reportFields Report

// MarshalJSON writes one flat object of the fields and Values.
func (r Report) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(reportFields(r))
	if err != nil || len(r.Values) == 0 {
		return text, err
	}
	values, err := json.Marshal(r.Values)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:len(text)-1], []byte{','}, values[1:]), nil
}

// UnmarshalJSON reads the output of MarshalJSON. It keeps unknown numbers as Values, since they may
// belong to parameters that no longer exist. For a field of the wrong type it returns a
// *json.UnmarshalTypeError after reading all others. Scores missing from old reports are derived
// from their confusion matrices.
func (r *Report) UnmarshalJSON(data []byte) error {
	err := json.Unmarshal(data, (*reportFields)(r))
	if err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Report]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(all, name)
	}
	r.Values = nil
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var v param.Value
		_, known := Param(name)
		if json.Unmarshal(all[name], &v) == nil && (v.IsNumber() || known) {
			r.Values = r.Values.With(name, v)
		}
	}
	r.derive()
	return err
}
