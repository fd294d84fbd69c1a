package web

import (
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"marginlab/ml/mltest/require"
)

func files(css string) fstest.MapFS {
	return fstest.MapFS{
		"app.css":    {Data: []byte(css)},
		"js/lab.js":  {Data: []byte("import './x.js'")},
		"icon.svg":   {Data: []byte("<svg/>")},
		"js/x.js":    {Data: []byte("1")},
		"empty/a.js": {Data: nil},
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	a := require.Value(NewAssets(files("body{}")))(t)
	same, _ := NewAssets(files("body{}"))
	other, _ := NewAssets(files("body{ }"))
	require.Check(t, a.Prefix() == same.Prefix() && a.Prefix() != other.Prefix(),
		"the prefix does not follow the contents")
	served := NewSite(slog.New(slog.DiscardHandler), nil).Handle(a.Serve)
	for name, kind := range map[string]string{"app.css": "text/css; charset=utf-8", "js/lab.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml", "empty/a.js": "text/javascript; charset=utf-8"} {
		w := ask(served, "GET", a.URL(name), "")
		require.Check(t, w.Code == 200 && w.Header().Get("Content-Type") == kind && strings.Contains(w.Header().Get("Cache-Control"), "immutable"),
			"%s: %d %v", name, w.Code, w.Header())
		if w := ask(served, "GET", a.URL(name), "", "If-None-Match: "+w.Header().Get("ETag")); w.Code != 304 {
			t.Errorf("%s: asked again: %d", name, w.Code)
		}
		require.Check(t, w.Header().Get("Set-Cookie") == "", "%s sets a cookie", name)
		if w := ask(served, "GET", other.URL(name), ""); w.Code != 200 || w.Header().Get("Cache-Control") != "public, no-cache" {
			t.Errorf("%s of another version: %d %v", name, w.Code, w.Header())
		}
	}
	for _, path := range []string{a.Prefix(), a.URL("js"), a.URL("js/"), a.URL("none"), "/static/", "/static/app.css", a.URL("../assets.go"), a.URL("js/../app.css")} {
		require.Equal(t, ask(served, "GET", path, "").Code, 404, "%s", path)
	}
}
