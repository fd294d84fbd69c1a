package limiter

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"strconv"

	"marginlab/web"
)

// Turns are the lines in which requests wait for what they have to compute.
type Turns struct {
	Answers, Pages *Limiter // live answers; what pages compute
}

// NewTurns returns the lines of a server.
func NewTurns() *Turns { return &Turns{New(Places()), New(max(2, runtime.NumCPU()))} }

// Live answers a question that a page's script asks while somebody moves something:
// with JSON of what reply returns, which is called in turn with the form of the request read.
// A workspace has one turn at a time at each address; where a newer question has come, the
// older one is answered without content.
//
// The field "coarse" of the form tells how coarse an answer will do: 0, as fine as can be, or
// 1, while something is being dragged. Where many wait it is one more than was asked, and
// "coarser" of the answer says so: the script shows it, and asks again where nothing moves.
func (t *Turns) Live(w http.ResponseWriter, r *http.Request, reply func(*http.Request) (map[string]any, error)) error {
	if err := web.ParseForm(w, r, web.FormBytes); err != nil { // before, because it may come slowly
		return err
	}
	v, err := t.inTurn(r, reply)
	if errors.Is(err, errSuperseded) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, v) // afterwards, because it may be read slowly
}

func (t *Turns) inTurn(r *http.Request, reply func(*http.Request) (map[string]any, error)) (map[string]any, error) {
	turn, err := t.Answers.Enter(r.Context(), web.Token(r.Context())+r.URL.Path)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	coarse := Coarseness(r.Form)
	if turn.Busy {
		r.Form.Set("coarse", strconv.Itoa(coarse+1))
	}
	v, err := reply(r.WithContext(turn.Context))
	if err == nil && turn.Busy {
		v["coarser"] = coarser
	}
	return v, err
}

// PageTurn waits until it is the turn of what a page has to compute, which is held while live
// answers are made for those who ask for little. leave gives the place back: before anything
// is sent, as it may be read slowly. Nobody enters here out of a cache.Recent, or those who have a
// turn would wait for a value whose maker waits for one.
func (t *Turns) PageTurn(ctx context.Context) (held context.Context, leave func(), err error) {
	turn, err := t.Pages.Join(ctx, web.Token(ctx))
	if err != nil {
		return nil, nil, err
	}
	return t.Answers.quick.Behind(ctx, 1), turn.Leave, nil
}

// coarser is the note on a picture that is coarser than requested.
const coarser = "Many are asking at the moment, so this picture is coarser. It becomes finer by itself."

// Coarseness is how coarse an answer to a form will do: 0, as fine as can be, 1, while
// something is being dragged, or 2, while it is and many others wait.
func Coarseness(form url.Values) int {
	n, _ := strconv.Atoi(form.Get("coarse")) // of anything else 0
	return min(max(n, 0), 2)
}
