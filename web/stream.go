package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat keeps proxies from closing a silent stream and detects clients that
	// disappeared.
	heartbeat = 15 * time.Second
	// patience is the time limit for sending one event.
	patience = 30 * time.Second
)

// Stream sends the values of events as server-sent events until the channel is closed
// or the request ends. encode returns an event's name and the value to send as JSON.
func Stream[E any](w http.ResponseWriter, r *http.Request, events <-chan E, encode func(E) (name string, data any)) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx
	conn := http.NewResponseController(w)
	send := func(format string, args ...any) error {
		// The server's own limit is for responses that end. Without a connection behind w, no
		// deadline can be set.
		_ = conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}
		return conn.Flush()
	}
	w.WriteHeader(http.StatusOK)
	if err := send(": open\n\n"); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-beat.C:
			if err := send(": still here\n\n"); err != nil {
				return err
			}
		case e, more := <-events:
			if !more {
				return nil
			}
			name, v := encode(e)
			data, err := json.Marshal(v) // one line
			if err != nil {
				return err
			}
			if err := send("event: %s\ndata: %s\n\n", name, data); err != nil {
				return err
			}
		}
	}
}
