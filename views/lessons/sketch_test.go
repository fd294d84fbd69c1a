package lessons

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The median of a class counts everybody: those who drew the same, too. What cannot be read
// is left out.
func TestCrowd(t *testing.T) {
	t.Parallel()
	s := Sketch{X: []float64{0, 1}}
	if got := s.Crowd(nil); got != nil {
		t.Errorf("nobody drew %v", got)
	}
	got := s.Crowd(map[string]int{"0 9": 3, "1 5": 1, "8 1": 1, "7": 2})
	if len(got) != 4 || got[0].Pale || !got[1].Pale || !cmp.Equal(got[0].Y, []float64{0, 9}) {
		t.Errorf("of three kinds: %+v", got)
	}
	if got := s.Crowd(map[string]int{"0 9": 1, "1 5": 1}); !cmp.Equal(got[0].Y, []float64{0.5, 7}) {
		t.Errorf("between two: %v", got[0].Y)
	}
}
