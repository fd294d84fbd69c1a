package handlerstest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"marginlab/ml/dataset"
)

// Scripts runs the scripts in testdata/scripts beside the test: sessions of browsers and programs
// with a server. In addition to the commands of testscript, they have
//
//	serve [idle]                      start a server at $server; idle: without workers
//	as NAME [program]                 continue as NAME, with a cookie like a browser or with a token
//	get STATUS PATH... [NAME=HEADER]  get pages or files
//	post STATUS PATH [FORM]           send a form and wait until all runs have ended
//	send STATUS METHOD PATH [NAME=HEADER] [JSON]
//	                                  send a request as programs do; <FILE sends a file of the script
//	refused STATUS FIELDS METHOD PATH [JSON]
//	                                  the same; the answer must be a problem with errors of these fields
//	attach STATUS PATH FILE           send a file with a form
//	await ID                          wait until a run or search has ended
//	let NAME QUERY                    set a variable to the first value, without the server's address
//	is QUERY [VALUE...]               the values are exactly these
//	says QUERY TEXT                   the values contain a text
//	count QUERY N                     there are N values; N+: at least N
//	pictures N                        the page has at least N figures, and all can be fetched
//	save FILE                         save the answer
//	course NAME TARGET [CONTROLS]     create a course and set NAME to its code, and NAME_typed, NAME_apart and NAME_dashed
//	                                  to the code in lower case, with a space and with a dash
//	ask NAME CODE QUESTION            ask a course a question and set a variable to its page
//	vote STATUS CODE ANSWER           answer the open question of a course
//
// A QUERY is SELECTOR or SELECTOR@ATTRIBUTE for a page, a column name for CSV, and names separated
// by dots for JSON, where * stands for all elements; :NAME is a header, a dot the whole answer.
func Scripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := &session{t: t}
			testscript.Run(t, testscript.Params{Files: []string{file}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"serve": s.serve, "as": s.as, "get": s.get, "post": s.post, "send": s.send, "refused": s.refused, "attach": s.attach, "let": s.let,
				"is": s.is, "says": s.says, "count": s.count, "save": s.save, "course": s.course, "ask": s.ask, "vote": s.vote, "pictures": s.pictures, "await": s.await,
			}})
		})
	}
}

// session is a running script.
type session struct {
	t      *testing.T
	server *Server
	client *Client
	answer Answer
}

// people maps the names of participants to tokens.
var people = map[string]string{
	"alice": Alice, "bob": Bob, "teacher": Teacher, "ada": Ada, "ben": Ben,
	"nobody": "", "cyd": strings.Repeat("3", 32), "dan": strings.Repeat("4", 32),
}

func (s *session) serve(ts *testscript.TestScript, _ bool, how []string) {
	s.server = Serve(s.t, !slices.Contains(how, "idle"), dataset.DefaultLimits)
	ts.Setenv("server", s.server.URL)
}

func (s *session) as(ts *testscript.TestScript, _ bool, who []string) {
	token, ok := people[who[0]]
	if !ok {
		ts.Fatalf("nobody is called %s", who[0])
	}
	if s.client = s.server.Browse(s.t, token); len(who) > 1 {
		s.client = s.server.As(s.t, token)
	}
}

// do sends a request and keeps the answer, which must have the given status.
func (s *session) do(ts *testscript.TestScript, status, method, path, body string, header ...string) {
	s.take(ts, status, method, path, s.client.Do(method, path, body, header...))
}

// take keeps an answer, which must have the given status.
func (s *session) take(ts *testscript.TestScript, status, method, path string, answer Answer) {
	if s.answer = answer; s.client.Cookie != nil && method != http.MethodGet {
		s.client.Settle()
	}
	if strconv.Itoa(s.answer.Status) != status {
		ts.Fatalf("%s %s: status %d, want %s: %s", method, path, s.answer.Status, status, s.answer.Body)
	}
}

// headerWord matches a header among the words of a command.
var headerWord = regexp.MustCompile(`^([A-Z][a-z]*(?:-[A-Z][a-z]*)*)=(.*)$`)

// headers separates the headers from the other words of a command.
func headers(words []string) (header, rest []string) {
	for _, w := range words {
		if h := headerWord.FindStringSubmatch(w); h != nil {
			header = append(header, h[1:]...)
		} else {
			rest = append(rest, w)
		}
	}
	return header, rest
}

func (s *session) get(ts *testscript.TestScript, _ bool, args []string) {
	header, paths := headers(args[1:])
	for _, path := range paths {
		s.do(ts, args[0], http.MethodGet, path, "", header...)
	}
}

func (s *session) post(ts *testscript.TestScript, _ bool, args []string) {
	s.do(ts, args[0], http.MethodPost, args[1], strings.Join(args[2:], "&"), "Content-Type", "application/x-www-form-urlencoded")
}

func (s *session) send(ts *testscript.TestScript, _ bool, args []string) {
	header, words := headers(args[3:])
	body := strings.Join(words, " ")
	if file, ok := strings.CutPrefix(body, "<"); ok {
		body = ts.ReadFile(file)
	}
	s.do(ts, args[0], args[1], args[2], body, header...)
}

func (s *session) refused(ts *testscript.TestScript, _ bool, args []string) {
	s.send(ts, false, append([]string{args[0]}, args[2:]...))
	if err := s.answer.Problem(args[1]); err != nil {
		ts.Fatalf("%s: %v: %s", args[2:], err, s.answer.Body)
	}
}

func (s *session) attach(ts *testscript.TestScript, _ bool, args []string) {
	s.take(ts, args[0], http.MethodPost, args[1], s.client.Attach(args[1], filepath.Base(args[2]), ts.ReadFile(args[2])))
}

// values returns the values that a query selects from the answer.
func (s *session) values(ts *testscript.TestScript, query string) (found []string) {
	if name, ok := strings.CutPrefix(query, ":"); ok {
		return s.answer.Header.Values(name)
	}
	if query == "." {
		return []string{string(s.answer.Body)}
	}
	if strings.Contains(s.answer.Header.Get("Content-Type"), "json") {
		dec := json.NewDecoder(bytes.NewReader(s.answer.Body))
		dec.UseNumber()
		var v any
		ts.Check(dec.Decode(&v))
		return within(v, strings.Split(query, "."))
	}
	if strings.Contains(s.answer.Header.Get("Content-Type"), "csv") {
		rows, err := csv.NewReader(bytes.NewReader(s.answer.Body)).ReadAll()
		ts.Check(err)
		return column(ts, rows, query)
	}
	selector, attribute, asked := strings.Cut(query, "@")
	elements := s.answer.HTML().Find(selector)
	if !asked {
		return Texts(elements)
	}
	return Attrs(elements, attribute)
}

// column returns the cells of a column. Column names must be unique.
func column(ts *testscript.TestScript, rows [][]string, name string) (cells []string) {
	if len(rows) == 0 {
		ts.Fatalf("the file is empty")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(rows[0])))) != len(rows[0]) {
		ts.Fatalf("two columns of one name: %q", rows[0])
	}
	if at := slices.Index(rows[0], name); at >= 0 {
		for _, row := range rows[1:] {
			cells = append(cells, row[at])
		}
	}
	return cells
}

// within returns the values at a path in JSON, strings without quotes.
func within(v any, path []string) (found []string) {
	if len(path) == 0 {
		if text, ok := v.(string); ok {
			return []string{text}
		}
		text, _ := json.Marshal(v)
		return []string{string(text)}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if path[0] == name || path[0] == "*" {
				found = append(found, within(v[name], path[1:])...)
			}
		}
	case []any:
		for i, one := range v {
			if path[0] == strconv.Itoa(i) || path[0] == "*" {
				found = append(found, within(one, path[1:])...)
			}
		}
	}
	return found
}

func (s *session) await(ts *testscript.TestScript, _ bool, ids []string) {
	s.server.App.Jobs.Wait(s.t.Context(), time.Hour, ids...)
}

func (s *session) let(ts *testscript.TestScript, _ bool, args []string) {
	found := s.values(ts, args[1])
	if len(found) == 0 {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], strings.TrimPrefix(found[0], s.server.URL))
}

func (s *session) is(ts *testscript.TestScript, other bool, args []string) {
	if found := s.values(ts, args[0]); slices.Equal(found, args[1:]) == other {
		ts.Fatalf("%s: %q, want %q", args[0], found, args[1:])
	}
}

func (s *session) says(ts *testscript.TestScript, other bool, args []string) {
	if found := strings.Join(s.values(ts, args[0]), "\n"); strings.Contains(found, args[1]) == other {
		ts.Fatalf("%s: %q, with %q: %t", args[0], found, args[1], other)
	}
}

func (s *session) count(ts *testscript.TestScript, _ bool, args []string) {
	least, more := strings.CutSuffix(args[1], "+")
	n, err := strconv.Atoi(least)
	ts.Check(err)
	if found := s.values(ts, args[0]); len(found) < n || len(found) > n && !more {
		ts.Fatalf("%s: %d values, want %s: %q", args[0], len(found), args[1], found)
	}
}

func (s *session) pictures(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	s.client.Pictures(s.answer.HTML(), n)
}

func (s *session) save(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), s.answer.Body, 0o600))
}

func (s *session) course(ts *testscript.TestScript, _ bool, args []string) {
	code := s.client.Course(args[1], strings.Join(args[2:], "&"))
	ts.Setenv(args[0], code)
	ts.Setenv(args[0]+"_typed", strings.ToLower(code))
	ts.Setenv(args[0]+"_apart", code[:3]+"+"+code[3:])
	ts.Setenv(args[0]+"_dashed", code[:3]+"-"+code[3:])
}

func (s *session) ask(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], s.client.Ask(args[1], args[2]))
}

func (s *session) vote(ts *testscript.TestScript, _ bool, args []string) {
	at := "/course/" + args[1] + "/poll"
	form := s.client.Page(http.StatusOK, at).Find("[data-vote]")
	sent := fmt.Sprintf("poll=%s&round=%s&answer=%s", form.Find("[name=poll]").AttrOr("value", ""), form.Find("[name=round]").AttrOr("value", ""), args[2])
	s.post(ts, false, []string{args[0], at, sent})
}
