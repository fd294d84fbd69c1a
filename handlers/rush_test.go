package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// rush lets students answer at the same time, each thrice, half of them sending all
// twice: every student counts once, with the last answer.
func rush(t *testing.T, s *handlerstest.Server, code string, students int, pause func(i int), taken func(time.Time)) (refused int) {
	poll := require.Value(s.App.Store.CurrentPoll(t.Context(), code))(t)
	client := hurried(t, students)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range students {
		all.Go(func() {
			pause(i)
			for k := range 3 {
				for again := range 1 + i%2 {
					answer := strings.NewReader(fmt.Sprintf("poll=%d&round=%d&answer=%d", poll.ID, poll.Round, (i+k)%2))
					a := asks(t, client, i, http.MethodPost, s.URL+"/course/"+code+"/poll", urlencoded, answer)
					if k+again == 0 {
						taken(time.Now())
					}
					if a.Status != http.StatusSeeOther {
						mu.Lock()
						refused++
						mu.Unlock()
					}
				}
			}
		})
	}
	all.Wait()
	return refused
}
