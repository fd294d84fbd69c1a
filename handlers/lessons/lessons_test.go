package lessons

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"marginlab/handlers/door"
	"marginlab/ml/param"
	"marginlab/views/lessons"
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
		v, _, err := a.demo(httptest.NewRequest("GET", "/lessons/l/s", nil), screen, "/lessons/l/s", nil, false, false)
		if v.Problem != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, fault) {
			t.Errorf("%s: %q, %v", name, v.Problem, err)
		}
	}
}
