package handlers_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/web"
	"marginlab/web/jobs"
)

// What opens something is neither in the log, however much it tells, nor in the metrics:
// keys of workspaces, tokens of shared runs and of teachers, codes of courses; mistyped
// ones neither, which may be one letter away.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	log := new(mltest.Buffer)
	s := handlerstest.ServeWith(t, true, handlers.Config{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Patience: time.Hour}, jobs.Config{})
	c := s.Browse(t, handlerstest.Teacher)
	code := c.Course("/lab?data=moons", "")
	teach := c.Secret(code)
	c.Page(200, teach)
	c.Page(200, "/course/"+code)
	c.Fetch(http.MethodPost, "/runs", "data=moons&name=Shared")
	c.Settle()
	run := strings.TrimPrefix(c.Page(200, "/runs").Find("tbody a").AttrOr("href", ""), "/runs/")
	link := c.Send(200, "/runs/"+run+"/share", "").HTML().Find(".share").AttrOr("value", "")
	shared := strings.TrimPrefix(link, c.URL)
	c.Page(200, shared)
	short := strings.TrimPrefix(c.Send(200, "/links", "data=moons&C=3").HTML().Find(".share").AttrOr("value", ""), c.URL)
	c.Page(200, short)

	typo := func(path string) string { return path[:len(path)-1] + "~" }
	for _, path := range []string{
		typo(shared), shared + "/x", strings.Replace(shared, "/shared/", "/share/", 1), strings.TrimPrefix(shared, "/shared"), shared + "/figures/none.svg", "/SHARED" + shared,
		typo(short), short + "/x", "/L" + short, typo(teach), teach + "/x", "/taech" + teach, "/course/" + typo(code), "/curse/" + code, "/lab?course=" + typo(code), "/lessons/" + code, "/api" + shared, "/static" + shared,
	} {
		require.Equal(t, c.Do("GET", path, "").Status, 404, "%s", path)
	}
	require.Equal(t, c.Do("GET", "/course/"+typo(code), "").HTML().Find("main a").First().Text(), "Courses", "link of the error page")
	require.Equal(t, c.Send(422, "/settings/workspace", "token="+handlerstest.Bob+"0").HTML().Find("#f-token-error").Text(), "A workspace key has 32 hexadecimal digits.", "error of the field")
	c.Send(200, "/settings/workspace", "token="+handlerstest.Bob)
	s.As(t, typo(handlerstest.Bob)).Do("GET", "/api/runs", "")
	s.As(t, handlerstest.Bob).Do("GET", "/api/runs", "")
	c.Do(code, "/", "")

	written := strings.ToLower(log.String() + string(c.Do("GET", "/metrics", "").Body))
	for what, secret := range map[string]string{"share token": strings.TrimPrefix(shared, "/shared/"), "token of a link": strings.TrimPrefix(short, "/l/"), "teacher's token": strings.TrimPrefix(teach, "/teach/"), "code": code, "key": handlerstest.Bob, "key of the teacher": handlerstest.Teacher} {
		require.Must(t, len(secret) >= 6, "%s %q", what, secret)
		i := strings.Index(written, strings.ToLower(secret[:len(secret)-1]))
		require.Check(t, i < 0, "the %s: %s", what, written[max(0, i-200):i+100])
	}
	require.Check(t, strings.Count(written, "msg=request ") >= 20, "the log has %d requests", strings.Count(written, "msg=request "))
}

// Metrics with an address of their own are not on that of the pages.
func TestMetricsApart(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	s := handlerstest.ServeWith(t, false, handlers.Config{Patience: time.Hour, SeparateMetrics: true}, jobs.Config{})
	for path, h := range map[string]struct {
		pages, alone int
	}{"/metrics": {404, 200}, "/healthz": {200, 404}, "/": {200, 404}} {
		for want, handler := range map[int]http.Handler{h.pages: s.App.Handler(), h.alone: metrics.Alone()} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			require.Check(t, w.Code == want, "%s: %d, want %d", path, w.Code, want)
		}
	}
}
