package param_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, v := range []param.Value{
		{},
		param.Of(0), param.Of(1), param.Of(-3), param.Of(0.1), param.Of(0.1 + 0.2), param.Of(math.Copysign(0, -1)), param.Of(5e-324),
		param.Of(math.MaxFloat64), param.Of(1e15), param.Of(1 << 53), param.Of(math.Nextafter(1, 2)), param.Of(true), param.Of(false),
		param.Of("auto"), param.Of(""), param.Of("1"), param.Of("true"), param.Of("a \"b\""),
	} {
		data := require.Value(json.Marshal(v))(t)
		var back param.Value
		if err := json.Unmarshal(data, &back); err != nil || back != v || math.Float64bits(back.Number()) != math.Float64bits(v.Number()) {
			t.Errorf("%s came back as %#v, %v", data, back, err)
		}
		p := param.Param{Name: "p", Kind: param.Number}
		if v.IsNumber() {
			if read, err := p.Parse(v.Text()); err != nil || math.Float64bits(read.Number()) != math.Float64bits(v.Number()) {
				t.Errorf("%v: its text was read as %v, %v", v, read, err)
			}
		}
	}
	for _, bad := range []string{`[1]`, `{}`, `1e400`, `x`, ``} {
		var v param.Value
		if err := json.Unmarshal([]byte(bad), &v); err == nil {
			t.Errorf("%q was read as a value", bad)
		}
	}
	if _, err := json.Marshal(param.Of(math.NaN())); err == nil {
		t.Error("NaN was written")
	}
}

func TestTextOfNumbers(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{"1000000000": 1e9, "0.001": 1e-3, "1e-05": 1e-5, "1e+300": 1e300, "123456": 123456, "-2": -2} {
		if got := param.Of(v).Text(); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	vs := param.Values{"C": param.Of(2.5), "degree": param.Of(3), "hard": param.Of(true), "gamma": param.Of("auto")}
	if vs.Number("C") != 2.5 || vs.Int("degree") != 3 || !vs.Switch("hard") || vs.Text("gamma") != "auto" || vs.Text("C") != "2.5" || vs.Text("hard") != "true" {
		t.Errorf("%v", vs)
	}
	// Missing values and values of another kind read as zero.
	if vs.Number("gamma") != 0 || vs.Switch("C") || vs.Int("none") != 0 || vs.Text("none") != "" || vs.Has("none") || !vs.Has("C") {
		t.Errorf("%v", vs)
	}
}

func TestValuesAreNotChangedInPlace(t *testing.T) {
	t.Parallel()
	vs := param.Values{"C": param.Of(1)}
	more, fewer := vs.With("C", param.Of(2)).With("tol", param.Of(0.1)), vs.Without("C")
	if diff := cmp.Diff(param.Values{"C": param.Of(1)}, vs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(param.Values{"C": param.Of(2), "tol": param.Of(0.1)}, more); diff != "" {
		t.Error(diff)
	}
	if len(fewer) != 0 {
		t.Error(fewer)
	}
	if got := param.Values(nil).With("C", param.Of(1)); got.Number("C") != 1 {
		t.Error(got)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	number := param.Param{Name: "gamma", Kind: param.Number, Words: []string{"auto"}, Max: 10, OpenMin: true}
	whole := param.Param{Name: "degree", Kind: param.Integer, Min: 1, Max: 20}
	onOff := param.Param{Name: "hard", Kind: param.Switch}
	choice := param.Param{Name: "kernel", Kind: param.Choice, Options: []param.Option{{Name: "rbf"}, {Name: "1"}}}
	for _, c := range []struct {
		p    param.Param
		v    param.Value
		says string // "" for a value that is right
	}{
		{number, param.Of(0.5), ""},
		{number, param.Of("auto"), ""},
		{number, param.Of("0.5"), "gamma must be a number above 0 and at most 10, or auto, and \"0.5\" is of another kind"},
		{number, param.Of(0), "above 0"},
		{number, param.Of(11), "at most 10"},
		{number, param.Of(math.NaN()), "must be a number"},
		{number, param.Value{}, "must be a number"},
		{number, param.Of(true), "must be a number"},
		{whole, param.Of(20), ""},
		{whole, param.Of(2.5), "whole number"},
		{onOff, param.Of(false), ""},
		{onOff, param.Of("false"), "must be true or false"},
		{onOff, param.Of(1), "must be true or false"},
		{onOff, param.Value{}, "must be true or false"},
		{choice, param.Of("1"), ""},
		{choice, param.Of(1), "one of rbf, 1, and"},
		{choice, param.Of("poly"), "one of rbf, 1"},
	} {
		switch err := c.p.Verify(c.v); {
		case c.says == "" && err != nil:
			t.Errorf("%s = %v: %v", c.p.Name, c.v, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s = %v: %v, want something about %q", c.p.Name, c.v, err, c.says)
		}
	}
}

// On a page a message speaks of the label; what has none keeps its name.
func TestLabelled(t *testing.T) {
	t.Parallel()
	for p, want := range map[*param.Param]string{
		{Name: "hard_margin", Label: "hard margin", Kind: param.Switch}: `hard margin must be true or false, not "on"`,
		{Name: "hard_margin", Kind: param.Switch}:                       `hard_margin must be true or false, not "on"`,
	} {
		if err := p.Labelled().Check("on"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	a, b := param.Param{Name: "a"}, param.Param{Name: "b"}
	var names []string
	for _, p := range param.Union([]param.Param{a}, b, a, b) {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestTextMayBeBounded counts characters, not bytes.
func TestTextMayBeBounded(t *testing.T) {
	t.Parallel()
	p := param.Param{Name: "word", Kind: param.Text, Max: 3}
	for text, ok := range map[string]bool{"": true, "äöü": true, "abcd": false} {
		if err := p.Check(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := p.Check("abcd"); err == nil || !strings.Contains(err.Error(), "at most 3 characters") {
		t.Errorf("too long: %v", err)
	}
	p.Max = 0
	if err := p.Check(strings.Repeat("x", 1000)); err != nil {
		t.Error(err)
	}
}

// A comma stands for the decimal point where somebody types, but for nothing else.
func TestDecimalComma(t *testing.T) {
	t.Parallel()
	p := param.Param{Name: "C", Kind: param.Number}
	for text, want := range map[string]float64{"1,5": 1.5, " 0,25 ": 0.25, "-2,5e1": -25, "1.5": 1.5, "0,125": 0.125, "1000,125": 1000.125} {
		if v, err := p.Parse(p.Typed(text)); err != nil || v.Number() != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"1,5,5", "1,500.5", "1.5,5", ",", "", "1,000", "-12,500"} {
		if v, err := p.Parse(p.Typed(text)); err == nil {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
	if v, err := p.Parse("1,5"); err == nil {
		t.Errorf("a program's 1,5 is taken for %v", v)
	}
	if _, err := (param.Param{Name: "n", Kind: param.Integer}).Parse("1.5"); err == nil {
		t.Error("1.5 is taken for a whole number")
	}
	if text := (param.Param{Name: "label", Kind: param.Text}).Typed("a,b"); text != "a,b" {
		t.Errorf("a name is changed to %q", text)
	}
}
