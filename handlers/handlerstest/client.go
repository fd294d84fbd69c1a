package handlerstest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/web"
)

// Client calls a server with a token or a cookie. It checks every answer of the API against
// the OpenAPI document.
type Client struct {
	*Server
	T      *testing.T
	Token  string
	Cookie *http.Cookie
	Doc    Object
}

// As returns a client that sends a token, as programs do.
func (s *Server) As(t *testing.T, token string) *Client {
	t.Helper()
	return &Client{Server: s, T: t, Token: token, Doc: Description(t)}
}

// Tokens of the workspaces of two users, a teacher and two students.
const (
	Alice   = "0123456789abcdef0123456789abcdef"
	Bob     = "fedcba9876543210fedcba9876543210"
	Teacher = "0123456789abcdef0123456789abcdef"
	Ada     = "11111111111111111111111111111111"
	Ben     = "22222222222222222222222222222222"
)

// Answer is a response that has been read.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	T      *testing.T
}

// Open sends a request and returns its response unread.
func (c *Client) Open(ctx context.Context, method, path string, body io.Reader, header ...string) *http.Response {
	c.T.Helper()
	r := require.Value(http.NewRequestWithContext(ctx, method, c.URL+path, body))(c.T)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.Cookie != nil {
		r.AddCookie(c.Cookie)
	}
	return require.Value(c.Client().Do(r))(c.T)
}

// Do sends a request and reads the answer.
func (c *Client) Do(method, path, body string, header ...string) Answer {
	c.T.Helper()
	resp := c.Open(c.T.Context(), method, path, strings.NewReader(body), header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.Must(c.T, err == nil, "%s %s: %v", method, path, err)
	a := Answer{resp.StatusCode, resp.Header, b, c.T}
	if p, _, _ := strings.Cut(path, "?"); strings.HasPrefix(p, "/api/") {
		require.Equal(c.T, conforms(c.Doc, method, p, a), nil, "%s %s: %d %s", method, path, a.Status, b)
	}
	return a
}

// Want sends a request and fails the test unless it has the status.
func (c *Client) Want(status int, method, path, body string, header ...string) Answer {
	c.T.Helper()
	a := c.Do(method, path, body, header...)
	require.Must(c.T, a.Status == status, "%s %s: status %d, want %d: %s", method, path, a.Status, status, a.Body)
	return a
}

// Says sends a request and reports an error unless the answer contains words; it ends the test if
// the status differs.
func (c *Client) Says(status int, words, method, path, body string, header ...string) {
	c.T.Helper()
	require.Says(c.T, string(c.Want(status, method, path, body, header...).Body), words, "%s %s", method, path)
}

// Decode reads an answer's JSON.
func Decode[T any](a Answer) (v T) {
	a.T.Helper()
	require.NoError(a.T, json.Unmarshal(a.Body, &v), "%s", a.Body)
	return v
}

// Problem returns an error unless the answer is a complete problem with errors of exactly these
// fields, in this order, separated by spaces.
func (a Answer) Problem(fields string) error {
	var p web.Problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return err
	}
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Field)
		if e.Message == "" {
			return fmt.Errorf("no message for %s", e.Field)
		}
	}
	kind := a.Header.Get("Content-Type")
	if kind != "application/problem+json" || p.Status != a.Status || p.Title == "" || p.Detail == "" || strings.Join(got, " ") != fields {
		return fmt.Errorf("%s %+v, want fields %q", kind, p, fields)
	}
	return nil
}

// Upload creates a data set from a file.
func (c *Client) Upload(query, file string) api.Dataset {
	c.T.Helper()
	return Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets?"+query, file))
}

// Train creates a run and returns its id.
func (c *Client) Train(body string) string {
	c.T.Helper()
	return Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/runs", body)).ID
}

// Done creates a run, waits for its end and returns its id.
func (c *Client) Done(body string) string {
	c.T.Helper()
	id := c.Train(body)
	c.Follow(id)
	return id
}

// Event is an event of a stream.
type Event struct{ Name, Data string }

// NextEvent reads one event; ok is false at the end of the stream.
func NextEvent(t *testing.T, r *bufio.Reader) (e Event, ok bool) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF && e == (Event{}) {
			return e, false
		}
		require.Must(t, err == nil, "stream: %v", err)
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && e != (Event{}):
			return e, true
		case strings.HasPrefix(line, "event: "):
			e.Name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			e.Data = line[len("data: "):]
		}
	}
}

// Follow reads the events of a run to their end.
func (c *Client) Follow(id string) (events []Event) {
	c.T.Helper()
	resp := c.Open(c.T.Context(), "GET", "/api/runs/"+id+"/events", nil)
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	require.Must(c.T, resp.StatusCode == http.StatusOK && kind == "text/event-stream", "events: %s %s", resp.Status, kind)
	body := bufio.NewReader(resp.Body)
	for {
		e, ok := NextEvent(c.T, body)
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

// Square is a small data set with two classes.
const Square = "x1,x2,label\n0,0,no\n0.5,0.25,no\n3,3.125,yes\n4,3,yes\n0.25,0.5,no\n3.5,4,yes\n"

// Browse returns a client that sends the cookie of a workspace, as browsers do.
func (s *Server) Browse(t *testing.T, token string) *Client {
	t.Helper()
	c := s.As(t, "")
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: token}
	return c
}

// Page gets a page and parses it.
func (c *Client) Page(status int, path string) *goquery.Document {
	c.T.Helper()
	a := c.Fetch(http.MethodGet, path, "")
	require.Must(c.T, a.Status == status, "GET %s: %d, want %d\n%s", path, a.Status, status, a.Body)
	return a.HTML()
}

// Pictures fetches the figures of a page and fails the test if there are fewer than least.
func (c *Client) Pictures(doc *goquery.Document, least int) {
	c.T.Helper()
	n := 0
	doc.Find("img").Each(func(_ int, img *goquery.Selection) {
		src, _ := img.Attr("src")
		if !strings.Contains(src, "/figures/") {
			return
		}
		n++
		a := c.Do("GET", src, "")
		require.Check(c.T, a.Status == 200 && strings.Contains(string(a.Body), "<svg"), "%s: %d", src, a.Status)
	})
	require.Check(c.T, n >= least, "%d pictures, want %d", n, least)
}

// Fetch is Do with the content type of a form.
func (c *Client) Fetch(method, path, body string) Answer {
	c.T.Helper()
	return c.Do(method, path, body, "Content-Type", "application/x-www-form-urlencoded")
}

// HTML parses a page.
func (a Answer) HTML() *goquery.Document {
	a.T.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(a.Body)))
	require.NoError(a.T, err)
	return doc
}

// Send posts a form and returns the answer after any redirects.
func (c *Client) Send(status int, path, form string) Answer {
	c.T.Helper()
	a := c.Want(status, "POST", path, form, "Content-Type", "application/x-www-form-urlencoded")
	c.Settle()
	return a
}

// Attach sends a file with a form.
func (c *Client) Attach(path, name, text string) Answer {
	c.T.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.Value(io.WriteString(require.Value(w.CreateFormFile("file", name))(c.T), text))(c.T)
	require.NoError(c.T, w.Close())
	return c.Do("POST", path, form.String(), "Content-Type", w.FormDataContentType())
}

// Settle waits until all runs of the workspace have ended, if there are workers.
func (c *Client) Settle() {
	c.T.Helper()
	if !c.Workers {
		return
	}
	runs, _, err := c.App.Store.Runs(c.T.Context(), store.WorkspaceOf(c.Cookie.Value), store.Filter{})
	require.NoError(c.T, err)
	ids := lists.Map(runs, func(r store.Run) string { return r.ID })
	c.App.Jobs.Wait(c.T.Context(), time.Hour, ids...)
}

// Course creates a course and returns its code.
func (c *Client) Course(target, controls string) string {
	c.T.Helper()
	q := url.Values{"target": {target}, "title": {"A course"}, "handins": {"true"}}.Encode()
	doc := c.Send(200, "/courses", q+"&"+controls).HTML()
	code := doc.Find(".course-code").Text()
	require.Must(c.T, len(code) == 6, "the code is %q", code)
	return code
}

// Secret returns the path of the teacher's page of a course.
func (c *Client) Secret(code string) string {
	c.T.Helper()
	link, _ := c.Page(200, "/courses/"+code).Find(".share").Attr("value")
	path, ok := strings.CutPrefix(link, c.URL)
	require.Must(c.T, ok && len(path) >= len("/teach/")+26, "the teacher's link is %q", link)
	return path
}

// Texts returns the text of each element with white space collapsed.
func Texts(s *goquery.Selection) (list []string) {
	s.Each(func(_ int, e *goquery.Selection) { list = append(list, strings.Join(strings.Fields(e.Text()), " ")) })
	return list
}

// Attrs returns an attribute of each element that has it.
func Attrs(s *goquery.Selection, name string) (list []string) {
	for _, e := range s.EachIter() {
		if value, ok := e.Attr(name); ok {
			list = append(list, value)
		}
	}
	return list
}

// Optioned and Numeric are questions of lessons: one with options, one for a number.
const Optioned, Numeric = "margins/two-margins/double", "margins/line/distance"

// Ask asks a course a question and returns the path of its page.
func (c *Client) Ask(code, question string) string {
	c.T.Helper()
	doc := c.Send(200, "/courses/"+code+"/polls", "question="+question).HTML()
	path, ok := doc.Find("article [method=post]").Attr("action")
	require.Must(c.T, ok, "no page of the question: %s", doc.Text())
	return path
}

// Moons stores two half moons of n points and returns the data set's id.
func (s *Server) Moons(t testing.TB, n int) string {
	t.Helper()
	return s.MoonsOf(t, Alice, n)
}

// MoonsOf is Moons for the workspace of a token.
func (s *Server) MoonsOf(t testing.TB, token string, n int) string {
	t.Helper()
	r := httptest.NewRequest("POST", "/api/datasets/generate", strings.NewReader(fmt.Sprintf(`{"generator":"moons","parameters":{"n":%d}}`, n)))
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	s.App.Handler().ServeHTTP(w, r)
	var set struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || w.Code != http.StatusCreated {
		t.Fatal(err, w.Code, w.Body)
	}
	return set.ID
}

// SmallStudy compares two learners on a generated data set and a file of the workspace.
const SmallStudy = `
baseline = "SVM"
[scheme]
folds = 3
max_rows = 60
[data.moons]
generator = "moons"
noise = 0.3
[data.mine]
file = "own points.csv"
[shared]
C = [1, 100]
[learner.SVM]
learner = "svm"
[learner.MCM]
learner = "mcm"
gamma = [0.5, 2]
`

// OrderOf returns the JSON request that creates a study.
func OrderOf(text string) string {
	b, _ := json.Marshal(map[string]string{"study": text})
	return string(b)
}

// Ended waits for the end of a study and returns it.
func (c *Client) Ended(id string) api.Study {
	c.T.Helper()
	for _, search := range Decode[api.Study](c.Want(200, "GET", "/api/studies/"+id, "")).Searches {
		c.App.Jobs.Wait(c.T.Context(), time.Hour, search)
	}
	return Decode[api.Study](c.Want(200, "GET", "/api/studies/"+id, ""))
}

// Measurements returns a CSV of a smooth function of the features; its label column holds distinct
// numbers.
func Measurements(rows, features int) string {
	var b strings.Builder
	for j := range features {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("height\n")
	for i := range rows {
		sum := 40.
		for j := range features {
			x := float64((i*(7+4*j))%rows) / 10
			fmt.Fprintf(&b, "%g,", x)
			sum += math.Sin(x)
		}
		fmt.Fprintf(&b, "%.6f\n", sum)
	}
	return b.String()
}

// Gram returns the matrix of a kernel over the first rows of d as LIBSVM writes it and as CSV, and
// the same of the other rows against those, without and with k(x, x).
func Gram(d *dataset.Data, k kernel.Kernel, train int) (libsvm, plain, test, self string) {
	var b, c, e, s strings.Builder
	s.WriteString(strings.Repeat("k,", train) + "self,label\n")
	for i, y := range d.Y {
		sparse, dense := &b, &c
		if i >= train {
			sparse, dense = &e, &s
		}
		fmt.Fprintf(sparse, "%s 0:%d", d.Classes[y], i+1)
		for j := range train {
			v := k.Eval(d.X.RawRowView(i), d.X.RawRowView(j))
			fmt.Fprintf(sparse, " %d:%v", j+1, v)
			fmt.Fprintf(dense, "%v,", v)
		}
		if i >= train {
			fmt.Fprint(dense, "1,")
		}
		fmt.Fprintln(sparse)
		fmt.Fprintln(dense, d.Classes[y])
	}
	return b.String(), c.String(), e.String(), s.String()
}
