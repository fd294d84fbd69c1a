package param

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
)

// Value is the value of a parameter: a number, a boolean or a text, such as one of the Words of a
// Number. Values are comparable with ==. The zero Value is unset and reads as 0, false and "".
type Value struct{ v any } // nil, float64, bool or string

// Of returns v as a Value.
func Of[T float64 | int | bool | string](v T) Value {
	if i, ok := any(v).(int); ok {
		return Value{float64(i)}
	}
	return Value{v}
}

// Number returns the number in v, 0 if there is none.
func (v Value) Number() float64 { f, _ := v.v.(float64); return f }

// Int returns Number truncated to an integer.
func (v Value) Int() int { return int(v.Number()) }

// Switch returns the boolean in v, false if there is none.
func (v Value) Switch() bool { b, _ := v.v.(bool); return b }

// IsNumber reports whether v holds a number.
func (v Value) IsNumber() bool { _, ok := v.v.(float64); return ok }

// Text returns v in the notation of Param.Parse. Numbers keep every digit.
func (v Value) Text() string {
	switch v := v.v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	}
	return ""
}

// String returns Text.
func (v Value) String() string { return v.Text() }

// Equal reports whether v == w, for packages that compare by a method.
func (v Value) Equal(w Value) bool { return v == w }

// MarshalJSON writes v as a JSON number, boolean or string; an unset value is null.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.v) }

// UnmarshalJSON reads a value written by MarshalJSON, exactly. Lists and objects are errors.
func (v *Value) UnmarshalJSON(data []byte) error {
	var a any
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	switch a.(type) {
	case nil, float64, bool, string:
		v.v = a
		return nil
	}
	return fmt.Errorf("expected a number, true, false or a string, found %s", data)
}

// Values maps parameter names to values. Missing ones read as 0, false and "". Copies share their
// map, so it must not be modified: With and Without return a new one.
type Values map[string]Value

// With returns a copy of vs in which name has the value v.
func (vs Values) With(name string, v Value) Values {
	more := make(Values, len(vs)+1)
	maps.Copy(more, vs)
	more[name] = v
	return more
}

// Without returns a copy of vs without the named value.
func (vs Values) Without(name string) Values {
	fewer := maps.Clone(vs)
	delete(fewer, name)
	return fewer
}

// Has reports whether vs has a value of this name.
func (vs Values) Has(name string) bool { _, ok := vs[name]; return ok }

// Number returns the named number, 0 if there is none.
func (vs Values) Number(name string) float64 { return vs[name].Number() }

// Int returns Number truncated to an integer.
func (vs Values) Int(name string) int { return vs[name].Int() }

// Switch returns the named boolean, false if there is none.
func (vs Values) Switch(name string) bool { return vs[name].Switch() }

// Text returns the named value in the notation of Param.Parse.
func (vs Values) Text(name string) string { return vs[name].Text() }
