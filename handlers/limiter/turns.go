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

// Turns holds the queues in which requests wait to compute.
type Turns struct {
	Answers, Pages *Limiter // for live answers and for pages
}

// NewTurns returns the Turns of a server.
func NewTurns() *Turns { return &Turns{New(Places()), New(max(2, runtime.NumCPU()))} }

// Live handles a request of a page's script during a drag: it sends the result of reply as JSON.
// reply is called in turn, with the form of the request parsed. A workspace has one turn at a time
// per path; requests replaced by newer ones get 204 No Content.
//
// The form field "coarse" is the acceptable coarseness: 0, as fine as possible, or 1, during a
// drag. Under load the answer is one step coarser and says so in the field "coarser"; the script
// shows that and asks again when nothing moves.
func (t *Turns) Live(w http.ResponseWriter, r *http.Request, reply func(*http.Request) (map[string]any, error)) error {
	if err := web.ParseForm(w, r, web.FormBytes); err != nil { // before the turn, since it may arrive slowly
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
	return web.JSON(w, http.StatusOK, v) // after the turn, since it may be read slowly
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

// PageTurn waits for a turn to compute a page. held pauses while quick live answers are computed.
// leave releases the place; call it before sending anything, since the client may be slow. Never
// call PageTurn while computing a value of a cache.Recent: holders of turns could then wait for
// that value while its computation waits for a turn.
func (t *Turns) PageTurn(ctx context.Context) (held context.Context, leave func(), err error) {
	turn, err := t.Pages.Join(ctx, web.Token(ctx))
	if err != nil {
		return nil, nil, err
	}
	return t.Answers.quick.Behind(ctx, 1), turn.Leave, nil
}

// coarser is the note on a picture that is coarser than requested.
const coarser = "The server is busy, so this picture is coarser. It refines by itself."

// Coarseness returns the acceptable coarseness of an answer to a form: 0 (as fine as possible), 1
// (during a drag) or 2 (during a drag under load).
func Coarseness(form url.Values) int {
	n, _ := strconv.Atoi(form.Get("coarse")) // 0 if invalid
	return min(max(n, 0), 2)
}
