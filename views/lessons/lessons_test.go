package lessons

import "testing"

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.25": 0.25, "0,25": 0.25, "1/4": 0.25, "−3e-2": -0.03, " 2 ": 2, "-1/5": -0.2} {
		if got, err := readNumber(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1/0", "0/0", "1/", "/2", "1//2", "NaN", "inf"} {
		if got, err := readNumber(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
