package web

import (
	"log/slog"
	"testing"

	"marginlab/ml/mltest/require"
)

// Pages of the listed origins can call /api with a key; nothing changes for others.
func TestOrigins(t *testing.T) {
	t.Parallel()
	s := NewSite(slog.New(slog.DiscardHandler), page)
	require.NoError(t, s.Origins.Add("https://notebook.example, http://localhost:8888/"))
	h := mux(s, map[string]Handler{"POST /api/x": ok, "POST /x": ok})
	const from, foreign = "Origin: https://notebook.example", "Origin: https://other.example"
	const cross, asks, sends = "Sec-Fetch-Site: cross-site", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		status       int
		allowed      string
	}{
		"preflight":                    {"OPTIONS", "/api/x", []string{from, asks, sends}, 200, "https://notebook.example"},
		"preflight of another":         {"OPTIONS", "/api/x", []string{foreign, asks, sends}, 200, ""},
		"preflight of a page":          {"OPTIONS", "/x", []string{from, asks, sends}, 405, ""},
		"request":                      {"POST", "/api/x", []string{from, cross, anyKey}, 200, "https://notebook.example"},
		"second origin":                {"POST", "/api/x", []string{"Origin: http://localhost:8888", cross, anyKey}, 200, "http://localhost:8888"},
		"without a key":                {"POST", "/api/x", []string{from, cross}, 401, "https://notebook.example"},
		"of another, with a key":       {"POST", "/api/x", []string{foreign, cross, anyKey}, 200, ""},
		"of another, without a key":    {"POST", "/api/x", []string{foreign, cross}, 403, ""},
		"of another, with the cookie":  {"POST", "/api/x", []string{foreign, cross, "Cookie: marginlab_workspace=0123456789abcdef0123456789abcdef"}, 403, ""},
		"a page":                       {"POST", "/x", []string{from, cross}, 403, ""},
		"a page, with a key beside it": {"POST", "/x", []string{from, cross, anyKey}, 403, ""},
	} {
		w := ask(h, c.method, c.path, "", c.headers...)
		if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != c.status || got != c.allowed || w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d, allowed %q, want %d, %q", name, w.Code, got, c.status, c.allowed)
		}
	}
	for _, bad := range []string{"", "*", "notebook.example", "https://a.example/x", "ftp://a.example", "https://a.example,"} {
		require.Check(t, new(Origins).Add(bad) != nil, "%q is an origin", bad)
	}
}
