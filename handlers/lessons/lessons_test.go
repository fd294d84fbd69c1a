package lessons

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"marginlab/handlers/door"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

// A demo says in its place what its controls do not allow; a fault of the program
// is an error of the handler, which logs it and answers so.
func TestFaultsAreNotShown(t *testing.T) {
	t.Parallel()
	fault := errors.New("index 7 of 5")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"fault":   {fault, ""},
		"refusal": {param.Refuse("choose data with two", "this study compares machines on two classes"), "This study compares machines on two classes; choose data with two."},
	} {
		a := New(&door.House{Patience: time.Minute})
		screen := &lessons.Screen{Slug: "s", Demo: &lessons.Demo{Show: func(context.Context, lessons.Input) (*lessons.Exhibit, error) { return nil, tc.err }}}
		v, _, err := a.demo(httptest.NewRequest("GET", "/lessons/l/s", nil), screen, "/lessons/l/s", nil, false, false, false)
		if v.Problem != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, fault) {
			t.Errorf("%s: %q, %v", name, v.Problem, err)
		}
	}
}

// No data set that comes with the program is a fault of a demo that takes data.
func TestDemosTakeEveryDataSet(t *testing.T) {
	t.Parallel()
	a := New(door.NewHouse(nil, nil, nil, dataset.DefaultLimits, web.Links{}, time.Minute, nil))
	seen := 0
	for _, l := range all.Lessons {
		for _, s := range l.Screens {
			if s.Demo == nil {
				continue
			}
			for _, p := range s.Demo.Params() {
				if !lessons.IsData(p) {
					continue
				}
				for _, slug := range []string{"iris", "moons"} { // of more than two classes and features, and of two
					form := url.Values{p.Name: {slug}, "coarse": {"1"}}
					in, _ := s.Demo.NewInput(form.Get, workspaceSource{a.House})
					_, err := a.exhibit(t.Context(), "", s.Demo, in)
					if _, told := param.ForPerson(err); err != nil && !told {
						t.Errorf("%s/%s on %s: %v", l.Slug, s.Slug, slug, err)
					}
					seen++
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d demos take data", seen)
	}
}

// Lessons show features; of data that are only a kernel's values they say so.
func TestDataWithoutFeatures(t *testing.T) {
	t.Parallel()
	refused := withFeatures("similarities", &dataset.Data{Objects: &dataset.Precomputed{}})
	if said, ok := param.ForPerson(refused); !ok || said != "similarities has no features that a lesson could show: its data are precomputed; choose others" {
		t.Errorf("%q, %v", said, refused)
	}
	if err := withFeatures("moons", &dataset.Data{}); err != nil {
		t.Error(err)
	}
}
