package lessons

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
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
		a := New(&frame.Base{Patience: time.Minute})
		screen := &lessons.Screen{Slug: "s", Demo: &lessons.Demo{Show: func(context.Context, lessons.Input) (*lessons.Exhibit, error) { return nil, tc.err }}}
		v, _, err := a.demo(httptest.NewRequest("GET", "/lessons/l/s", nil), screen, "/lessons/l/s", nil, false, false, false)
		require.Check(t, v.Problem == tc.want && (err != nil) == (tc.want == "") && (err == nil || errors.Is(err, fault)),
			"%s: %q, %v", name, v.Problem, err)
	}
}

// No data set that comes with the program is a fault of a demo that takes data.
func TestDemosTakeEveryDataSet(t *testing.T) {
	t.Parallel()
	a := New(frame.NewBase(nil, nil, nil, dataset.DefaultLimits, web.Links{}, time.Minute, nil))
	seen := 0
	for _, l := range all.Lessons() {
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
					in, _ := s.Demo.NewInput(form.Get, workspaceSource{a.Base})
					_, err := a.exhibit(t.Context(), "", s.Demo, in)
					_, told := param.ForPerson(err)
					require.Check(t, err == nil || told, "%s/%s on %s: %v", l.Slug, s.Slug, slug, err)
					seen++
				}
			}
		}
	}
	require.Check(t, seen >= 10, "only %d demos take data", seen)
}

// Lessons show features; of data that are only a kernel's values they say so.
func TestDataWithoutFeatures(t *testing.T) {
	t.Parallel()
	refused := withFeatures("similarities", &dataset.Data{Objects: &dataset.Precomputed{}})
	said, ok := param.ForPerson(refused)
	require.Check(t, ok && said == "similarities has no features that a lesson could show: its data are precomputed; choose other data", "%q, %v", said, refused)
	require.Equal(t, withFeatures("moons", &dataset.Data{}), nil, "withFeatures")
}

// Nobody has a replay computed that is longer than the script asks for.
func TestStatesAhead(t *testing.T) {
	t.Parallel()
	a := New(frame.NewBase(nil, nil, nil, dataset.DefaultLimits, web.Links{}, time.Minute, nil))
	for form, want := range map[string]string{
		"ahead=50":         "ahead must be a whole number from 1 to 12, not 50",
		"ahead=9e29":       "ahead must be a whole number from 1 to 12, not 9e29",
		"ahead=x&step=-1":  `step must be a whole number from 0 to 1000000, not -1; ahead must be a whole number from 1 to 12, not "x"`,
		"step=1e300":       "step must be a whole number from 0 to 1000000, not 1e300",
		"step=0.5&ahead=2": "step must be a whole number from 0 to 1000000, not 0.5",
	} {
		r := httptest.NewRequest("POST", "/lessons/procedures/naive/states", strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		route := chi.NewRouteContext()
		route.URLParams.Add("lesson", "procedures")
		route.URLParams.Add("screen", "naive")
		err := web.With(a.Screen, a.States)(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, route)))
		var ps param.Problems
		require.Check(t, errors.As(err, &ps) && err.Error() == want, "%s: %v, want %s", form, err, want)
	}
}
