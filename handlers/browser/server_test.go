package browser

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/store/storetest"
)

// server is the program, listening in a process of its own.
type server struct {
	t     *testing.T
	url   string
	help  []string // flags of a worker that helps, where the program wants some
	dir   string
	args  []string
	cmd   *exec.Cmd
	log   *mltest.Buffer
	ended chan error // what the process ended with; nil once it is known
}

// start runs the program on an empty database until the test ends. The first server makes that
// in a new directory.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	require.NoError(t, watch())
	s := &server{t: t, dir: t.TempDir(), args: args}
	storetest.Prepare(t, s.dir, func(_ context.Context, dir string) (*server, error) {
		first := &server{t: t, dir: dir}
		first.run("127.0.0.1:0")
		return first, nil
	})
	s.run("127.0.0.1:0")
	t.Cleanup(s.stop)
	return s
}

// watch looks at the folders of the program once. That makes them inputs of the
// test: otherwise go test would repeat an old result from its cache after a
// change of the program, which it does not know to be built here.
var watch = sync.OnceValue(func() error {
	return filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		return err
	})
})

var listening = regexp.MustCompile(`http://\S+`)

func (s *server) run(addr string) {
	s.t.Helper()
	// The lab gives up on a computation that takes too long for a page. How long
	// that takes here says how busy the machine is, and nothing about the program.
	args := append([]string{"serve", "--addr", addr, "--data-dir", s.dir, "--patience", "3600"}, s.args...)
	s.cmd, s.log, s.ended = exec.Command(binary, args...), new(mltest.Buffer), make(chan error, 1)
	out, in := io.Pipe()
	s.cmd.Stdout, s.cmd.Stderr = in, s.log
	dieWithParent(s.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the parent of a process is a thread: this one ends after it
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.ended <- s.cmd.Wait()
		}
		in.Close()
	}()
	if err := <-started; err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	s.url = listening.FindString(line)
	require.Must(s.t, s.url != "", "the program did not say where it listens (%v):\n%s%s", err, line, s.log)
	if slices.ContainsFunc(s.args, func(arg string) bool { return strings.HasPrefix(arg, "--nats") }) {
		for !strings.Contains(line, "marginlab worker ") && err == nil {
			line, err = lines.ReadString('\n')
		}
		_, flags, _ := strings.Cut(line, "marginlab worker ")
		s.help = strings.Fields(flags)
	}
	go io.Copy(io.Discard, lines)
}

// stop ends the program as a service manager does; it must end well.
func (s *server) stop() {
	if s.ended == nil {
		return
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	require.Equal(s.t, s.wait(), nil, "%s\nthe program ended with", s.log)
	bad := trouble.FindAllString(s.log.String(), 5)
	require.Check(s.t, bad == nil, "in the log:\n%s", strings.Join(bad, "\n"))
}

// Close is stop.
func (s *server) Close() error {
	s.stop()
	return nil
}

// wait returns what the program ended with.
func (s *server) wait() error {
	err := <-s.ended
	s.ended = nil
	return err
}

// trouble are the lines of a log that must not be there.
var trouble = regexp.MustCompile(`.*(level=ERROR|panic|DATA RACE)(.*\n?){1,3}`)

// kill ends the program without a chance to tidy up.
func (s *server) kill() {
	s.cmd.Process.Kill()
	s.wait()
}

// restart runs the ended program again, on the same data and at the same address.
func (s *server) restart() {
	s.t.Helper()
	s.run(strings.TrimPrefix(s.url, "http://"))
}

// client speaks HTTP to the program; it keeps cookies and follows no redirects.
func (s *server) client() *client {
	jar, _ := cookiejar.New(nil)
	return &client{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type client struct {
	server *server
	http   *http.Client
}

// answer is a response that has been read.
type answer struct {
	*http.Response
	body string
}

// do sends a request; edit may change it before.
func (c *client) do(t *testing.T, method, path, body string, edit ...func(*http.Request)) answer {
	t.Helper()
	r := require.Value(http.NewRequestWithContext(t.Context(), method, c.server.url+path, strings.NewReader(body)))(t)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, e := range edit {
		e(r)
	}
	res := require.Value(c.http.Do(r))(t)
	defer res.Body.Close()
	return answer{res, string(require.Value(io.ReadAll(res.Body))(t))}
}

func (c *client) get(t *testing.T, path string) answer {
	t.Helper()
	return c.do(t, "GET", path, "")
}

// post sends a form that must be answered with a redirect, and returns where to.
func (c *client) post(t *testing.T, path, form string) string {
	t.Helper()
	a := c.do(t, "POST", path, form)
	require.Must(t, a.StatusCode == http.StatusSeeOther, "POST %s: status %d, want a redirect:\n%s", path, a.StatusCode, a.body)
	return a.Header.Get("Location")
}

var runLink = regexp.MustCompile(`href="/runs/(\w+)"`)

// settle waits until all runs of the workspace have ended: with their events.
func (c *client) settle(t *testing.T) {
	t.Helper()
	for _, m := range runLink.FindAllStringSubmatch(c.get(t, "/runs").body, -1) {
		c.get(t, "/runs/"+m[1]+"/events")
	}
}

// tail is the end of what was written.
func tail(b *mltest.Buffer, bytes int) string {
	s := b.String()
	return s[max(0, len(s)-bytes):]
}

// upload sends a file as the form does and returns where it leads.
func (c *client) upload(t *testing.T, name, content string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part := require.Value(form.CreateFormFile("file", name))(t)
	io.WriteString(part, content)
	form.Close()
	a := c.do(t, "POST", "/datasets", body.String(), func(r *http.Request) { r.Header.Set("Content-Type", form.FormDataContentType()) })
	require.Must(t, a.StatusCode == http.StatusSeeOther, "upload of %s: status %d", name, a.StatusCode)
	return a.Header.Get("Location")
}
