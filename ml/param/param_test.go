package param_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/lists"
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
		back := require.Reread(t, v)
		require.Check(t, back == v && math.Float64bits(back.Number()) == math.Float64bits(v.Number()),
			"%#v came back as %#v", v, back)
		p := param.Param{Name: "p", Kind: param.Number}
		if v.IsNumber() {
			read, err := p.Parse(v.Text())
			require.Check(t, err == nil && math.Float64bits(read.Number()) == math.Float64bits(v.Number()), "%v: its text was read as %v, %v", v, read, err)
		}
	}
	for _, bad := range []string{`[1]`, `{}`, `1e400`, `x`, ``} {
		require.Check(t, json.Unmarshal([]byte(bad), new(param.Value)) != nil, "%q was read as a value", bad)
	}
	require.Fails(t, require.Err(json.Marshal(param.Of(math.NaN()))), "", "NaN was written")
}

func TestValues(t *testing.T) {
	t.Parallel()
	vs := param.Values{"C": param.Of(2.5), "degree": param.Of(3), "hard": param.Of(true), "gamma": param.Of("auto")}
	require.Check(t, vs.Number("C") == 2.5 && vs.Int("degree") == 3 && vs.Switch("hard") && vs.Text("gamma") == "auto" && vs.Text("C") == "2.5" && vs.Text("hard") == "true",
		"%v", vs)
	// Missing values and values of another kind read as zero.
	require.Check(t, vs.Number("gamma") == 0 && !vs.Switch("C") && vs.Int("none") == 0 && vs.Text("none") == "" && !vs.Has("none") && vs.Has("C"),
		"%v", vs)
	for want, v := range map[string]float64{"1000000000": 1e9, "0.001": 1e-3, "1e-05": 1e-5, "1e+300": 1e300, "123456": 123456, "-2": -2} {
		require.Equal(t, param.Of(v).Text(), want, "%g is written", v)
	}
	vs = param.Values{"C": param.Of(1)}
	more, fewer := vs.With("C", param.Of(2)).With("tol", param.Of(0.1)), vs.Without("C")
	require.Equal(t, cmp.Diff(param.Values{"C": param.Of(1)}, vs), "", "diff")
	require.Equal(t, cmp.Diff(param.Values{"C": param.Of(2), "tol": param.Of(0.1)}, more), "", "diff")
	require.Check(t, len(fewer) == 0, "%v", fewer)
	got := param.Values(nil).With("C", param.Of(1))
	require.Check(t, got.Number("C") == 1, "%v", got)
	a, b := param.Param{Name: "a"}, param.Param{Name: "b"}
	names := lists.Map(param.Union([]param.Param{a}, b, a, b), func(p param.Param) string { return p.Name })
	require.Equal(t, cmp.Diff([]string{"a", "b"}, names), "", "diff")
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
		{number, param.Of("0.5"), "gamma must be a number above 0 and at most 10, or auto, but \"0.5\" has another type"},
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
		{choice, param.Of(1), "one of rbf, 1, but"},
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

// Bounds of a text count characters, not bytes.
func TestTexts(t *testing.T) {
	t.Parallel()
	p := param.Param{Name: "word", Kind: param.Text, Max: 3}
	for text, ok := range map[string]bool{"": true, "äöü": true, "abcd": false} {
		err := p.Check(text)
		require.Check(t, (err == nil) == ok, "%q: %v", text, err)
	}
	require.Fails(t, p.Check("abcd"), "at most 3 characters", "too long")
	p.Max = 0
	require.Equal(t, p.Check(strings.Repeat("x", 1000)), nil, "p.Check")
	// On a page a message speaks of the label; what has none keeps its name.
	for p, want := range map[*param.Param]string{
		{Name: "hard_margin", Label: "hard margin", Kind: param.Switch}: `hard margin must be true or false, not "on"`,
		{Name: "hard_margin", Kind: param.Switch}:                       `hard_margin must be true or false, not "on"`,
	} {
		err := p.Labelled().Check("on")
		require.Check(t, err != nil && err.Error() == want, "%v, want %s", err, want)
	}
	// A comma stands for the decimal point where somebody types, but for nothing else.
	p = param.Param{Name: "C", Kind: param.Number}
	for text, want := range map[string]float64{"1,5": 1.5, " 0,25 ": 0.25, "-2,5e1": -25, "1.5": 1.5, "0,125": 0.125, "1000,125": 1000.125} {
		v, err := p.Parse(p.Typed(text))
		require.Check(t, err == nil && v.Number() == want, "%q: %v, %v", text, v, err)
	}
	for _, text := range []string{"1,5,5", "1,500.5", "1.5,5", ",", "", "1,000", "-12,500"} {
		v, err := p.Parse(p.Typed(text))
		require.Check(t, err != nil, "%q is taken for %v", text, v)
	}
	v, err := p.Parse("1,5")
	require.Check(t, err != nil, "a program's 1,5 is taken for %v", v)
	require.Fails(t, require.Err((param.Param{Name: "n", Kind: param.Integer}).Parse("1.5")), "", "1.5 is taken for a whole number")
	require.Equal(t, (param.Param{Name: "label", Kind: param.Text}).Typed("a,b"), "a,b", "a name is changed to")
	for name, want := range map[string]string{"-1": "−1", "1": "1", "x-1": "x-1", "2026-12-02": "2026-12-02"} {
		require.Equal(t, param.ClassText(name), want, "%s", name)
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1 kB", 100_000: "97.66 kB", 1<<20 - 1<<10: "1023 kB", 8 << 20: "8 MB", 3 << 29: "1.5 GB", 5000 << 30: "5000 GB"} {
		require.Equal(t, param.Bytes(n), strings.Replace(want, " ", "\u00a0", 1), "%d", n)
	}
}
