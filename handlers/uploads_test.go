package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/web"
)

// digitsFile is a file of values of one digit, the shortest there are: no other is as much
// larger in memory.
func digitsFile(rows, columns int) string {
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("label\n")
	seed := uint32(1)
	for i := range rows {
		for range columns {
			seed = seed*1664525 + 1013904223
			b.WriteByte('0' + byte(seed>>16%10))
			b.WriteByte(',')
		}
		b.WriteString([]string{"A\n", "B\n"}[i%2])
	}
	return b.String()
}

// uploadAtOnce lets n people send a file in a form, all at the same time, and look at its page
// and its picture. Each has a workspace of their own, and one point more than the one before.
func uploadAtOnce(t *testing.T, s *handlerstest.Server, n int, file string) {
	t.Helper()
	client := hurried(t, n)
	last := file[strings.LastIndex(file[:len(file)-1], "\n")+1:]
	var people sync.WaitGroup
	for i := range n {
		people.Go(func() {
			ask := func(want int, method, path, kind string, body io.Reader) (location string) {
				a := asks(t, client, i, method, s.URL+path, kind, body)
				require.Check(t, a.Status == want, "%s %s: %d, want %d\n%s", method, path, a.Status, want, a.Body)
				return a.Header.Get("Location")
			}
			var head, end bytes.Buffer
			form := multipart.NewWriter(&head)
			_, err := form.CreateFormFile("file", "digits.csv")
			require.Check(t, err == nil, "%v", err)
			fmt.Fprintf(&end, "%s\r\n--%s--\r\n", strings.Repeat(last, i), form.Boundary())
			if page := ask(http.StatusSeeOther, "POST", "/datasets", form.FormDataContentType(), io.MultiReader(&head, strings.NewReader(file), &end)); page != "" {
				ask(http.StatusOK, "GET", page, "", nil)
				ask(http.StatusOK, "GET", page+"/figures/points.png", "", nil)
			}
		})
	}
	people.Wait()
}

// endUnderUploads stops a server while n people upload the file, of whom every other one never
// comes to an end, and tells how long it took. Each data set is there as a whole or not at all,
// those who were told so have theirs, and no temporary file is left.
func endUnderUploads(t *testing.T, n int, file string) time.Duration {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	app := handlerstest.Serve(t, false).App
	server := require.Value(web.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler)))(t)
	var underWay, requests sync.WaitGroup // until all have come; until the last has left, also those that were cut off
	underWay.Add(n)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		defer requests.Done()
		underWay.Done()
		app.Handler().ServeHTTP(w, r)
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, h) }()

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	kept := make([]bool, n)
	ended, end := context.WithCancel(t.Context())
	defer end()
	var people sync.WaitGroup
	for i := range n {
		people.Go(func() {
			body, sender := io.Pipe()
			go func() { // a client looks at what became of its request when it has sent it
				<-ended.Done()
				sender.CloseWithError(io.ErrUnexpectedEOF)
			}()
			go func() {
				_, err := io.WriteString(sender, file[:len(file)/2])
				if i%2 == 0 && err == nil {
					_, err = io.WriteString(sender, file[len(file)/2:])
					sender.CloseWithError(err)
				}
			}()
			r, err := http.NewRequestWithContext(t.Context(), "POST", fmt.Sprintf("http://%s/api/datasets?name=digits", server.Addr()), body)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", fmt.Sprintf("Bearer %032x", i+1))
			r.Header.Set("Content-Type", "text/csv")
			a, err := client.Do(r)
			if err != nil {
				return // it was cut off
			}
			defer a.Body.Close()
			kept[i] = a.StatusCode == http.StatusCreated
			require.Check(t, kept[i] || a.StatusCode >= 400, "%d: %s", i, a.Status)
		})
	}
	underWay.Wait()
	began := time.Now()
	stop()
	err := <-served
	took := time.Since(began)
	end()
	require.Check(t, err != nil, "requests that never end were not cut off")
	people.Wait()
	requests.Wait()
	rows := strings.Count(file, "\n") - 1
	for i := range n {
		sets := require.Value(app.Store.Datasets(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", i+1))))(t)
		require.Check(t, len(sets) <= 1 && (len(sets) != 1 || sets[0].Rows == rows) && (!kept[i] || len(sets) != 0),
			"upload %d, said to be kept: %v; %d data sets", i, kept[i], len(sets))
	}
	left, err := os.ReadDir(temp)
	require.Check(t, err == nil && len(left) == 0, "%v are left (%v)", left, err)
	return took
}
