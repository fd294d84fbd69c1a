package handlers

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/web"
)

// kept is a log in memory.
type kept struct {
	mu sync.Mutex
	b  strings.Builder
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.b.Write(p)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.b.String()
}

// What opens something is neither in the log, however much it tells, nor in the metrics:
// keys of workspaces, tokens of shared runs and of teachers, codes of courses; mistyped
// ones neither, which may be one letter away.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	log := &kept{}
	s := serveLogged(t, true, dataset.DefaultLimits, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	c := s.browse(t, teacher)
	code := c.course("/lab?data=moons", "")
	teach := c.secret(code)
	c.page(200, teach)
	c.page(200, "/course/"+code)
	c.fetch(http.MethodPost, "/runs", "data=moons&name=Shared")
	c.settle()
	run := strings.TrimPrefix(c.page(200, "/runs").Find("tbody a").AttrOr("href", ""), "/runs/")
	link := c.send(200, "/runs/"+run+"/share", "").html().Find(".share").AttrOr("value", "")
	shared := strings.TrimPrefix(link, c.URL)
	c.page(200, shared)
	short := strings.TrimPrefix(c.send(200, "/links", "data=moons&C=3").html().Find(".share").AttrOr("value", ""), c.URL)
	c.page(200, short)

	typo := func(path string) string { return path[:len(path)-1] + "~" }
	for _, path := range []string{
		typo(shared), shared + "/x", strings.Replace(shared, "/shared/", "/share/", 1), strings.TrimPrefix(shared, "/shared"), shared + "/figures/none.svg", "/SHARED" + shared,
		typo(short), short + "/x", "/L" + short, typo(teach), teach + "/x", "/taech" + teach, "/course/" + typo(code), "/curse/" + code, "/lab?course=" + typo(code), "/lessons/" + code, "/api" + shared, "/static" + shared,
	} {
		if a := c.do("GET", path, ""); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	c.send(422, "/settings/workspace", "token="+bob+"0")
	c.send(200, "/settings/workspace", "token="+bob)
	s.client(t, typo(bob)).do("GET", "/api/runs", "")
	s.client(t, bob).do("GET", "/api/runs", "")
	c.do(code, "/", "")

	written := strings.ToLower(log.String() + string(c.do("GET", "/metrics", "").body))
	for what, secret := range map[string]string{"share token": strings.TrimPrefix(shared, "/shared/"), "token of a link": strings.TrimPrefix(short, "/l/"), "teacher's token": strings.TrimPrefix(teach, "/teach/"), "code": code, "key": bob, "key of the teacher": teacher} {
		if len(secret) < 6 {
			t.Fatalf("%s %q", what, secret)
		}
		if i := strings.Index(written, strings.ToLower(secret[:len(secret)-1])); i >= 0 {
			t.Errorf("the %s: %s", what, written[max(0, i-200):i+100])
		}
	}
	if strings.Count(written, "msg=request ") < 20 {
		t.Errorf("the log has %d requests", strings.Count(written, "msg=request "))
	}
}

// Metrics with an address of their own are not on that of the pages.
func TestMetricsApart(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	s := serve(t, false, dataset.DefaultLimits)
	s.app.apart = true
	for path, h := range map[string]struct {
		pages, alone int
	}{"/metrics": {404, 200}, "/healthz": {200, 404}, "/": {200, 404}} {
		for want, handler := range map[int]http.Handler{h.pages: s.app.Handler(), h.alone: metrics.Alone()} {
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != want {
				t.Errorf("%s: %d, want %d", path, w.Code, want)
			}
		}
	}
}
