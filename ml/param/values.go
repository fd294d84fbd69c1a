package param

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
)

// Value is the value of a parameter: a number, a boolean or a text, such as a word
// accepted by a Number. Values are comparable with ==. The zero Value is unset and reads
// as 0, false and "".
type Value struct{ v any } // nil, float64, bool or string

// Of makes a value.
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

// Text is v in the notation that Param.Parse reads; a number keeps every digit.
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

// String is Text, for messages.
func (v Value) String() string { return v.Text() }

// Equal is ==, for packages that compare by method.
func (v Value) Equal(w Value) bool { return v == w }

// MarshalJSON writes a JSON number, truth value or text; none is null.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.v) }

// UnmarshalJSON reads what MarshalJSON writes, bit for bit. Lists and objects are
// errors.
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

// Values maps parameter names to values. Missing ones read as 0, false and "". Values are
// shared between copies and must not be modified: With returns a new map.
type Values map[string]Value

// With returns the values with one more, or another one of this name.
func (vs Values) With(name string, v Value) Values {
	more := make(Values, len(vs)+1)
	maps.Copy(more, vs)
	more[name] = v
	return more
}

// Without returns the values except the named one.
func (vs Values) Without(name string) Values {
	fewer := maps.Clone(vs)
	delete(fewer, name)
	return fewer
}

// Has reports whether there is a value of this name.
func (vs Values) Has(name string) bool { _, ok := vs[name]; return ok }

// Number returns the named number, 0 if there is none.
func (vs Values) Number(name string) float64 { return vs[name].Number() }

// Int returns Number truncated to an integer.
func (vs Values) Int(name string) int { return vs[name].Int() }

// Switch returns the named boolean, false if there is none.
func (vs Values) Switch(name string) bool { return vs[name].Switch() }

// Text returns the named value in the notation of Param.Parse.
func (vs Values) Text(name string) string { return vs[name].Text() }
