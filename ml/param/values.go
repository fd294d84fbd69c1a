package param

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
)

// Value is the value of a parameter: a number, a truth value or a text, such as a
// word that a Number takes. Values may be compared with ==. The zero Value is none:
// it reads as 0, false and "".
type Value struct{ v any } // nil, float64, bool or string

// Of makes a value.
func Of[T float64 | int | bool | string](v T) Value {
	if i, ok := any(v).(int); ok {
		return Value{float64(i)}
	}
	return Value{v}
}

// Number is the number v holds, 0 when it holds none.
func (v Value) Number() float64 { f, _ := v.v.(float64); return f }

// Int is Number without what follows the point.
func (v Value) Int() int { return int(v.Number()) }

// Switch is the truth value v holds, false when it holds none.
func (v Value) Switch() bool { b, _ := v.v.(bool); return b }

// IsNumber tells whether v holds a number.
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

// Equal is ==, for those who compare what holds values.
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
	return fmt.Errorf("expected a number, true, false or a text, found %s", data)
}

// Values are values of parameters by name. Those that are not there read as 0, false
// and "". Values are shared by what is copied and never changed: With makes others.
type Values map[string]Value

// With returns the values with one more, or another one of this name.
func (vs Values) With(name string, v Value) Values {
	more := make(Values, len(vs)+1)
	maps.Copy(more, vs)
	more[name] = v
	return more
}

// Without returns the values but for this one.
func (vs Values) Without(name string) Values {
	fewer := maps.Clone(vs)
	delete(fewer, name)
	return fewer
}

// Has tells whether there is a value of this name.
func (vs Values) Has(name string) bool { _, ok := vs[name]; return ok }

// Number is the number of this name, 0 when there is none.
func (vs Values) Number(name string) float64 { return vs[name].Number() }

// Int is Number without what follows the point.
func (vs Values) Int(name string) int { return vs[name].Int() }

// Switch is the truth value of this name, false when there is none.
func (vs Values) Switch(name string) bool { return vs[name].Switch() }

// Text is the value of this name in the notation that Param.Parse reads.
func (vs Values) Text(name string) string { return vs[name].Text() }
