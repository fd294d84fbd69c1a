package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// Content is sent compressed to clients that accept it, and uncompressed to others.
func TestContent(t *testing.T) {
	t.Parallel()
	long, noise := strings.Repeat("<p>words</p>", 1000), "a"
	for _, test := range []struct {
		kind, body, accepts string
		zipped              bool
	}{
		{"image/svg+xml", long, "gzip, deflate, br, zstd", true},
		{"image/svg+xml", long, "br, gzip;q=0.5", true},
		{"image/svg+xml", long, "gzip;q=0, br", false},
		{"image/svg+xml", long, "gzip;q=nonsense", false},
		{"image/svg+xml", long, "x-gzipped", false},
		{"image/svg+xml", long, "", false},
		{"text/css; charset=utf-8", long, "gzip", true},
		{"image/png", long, "gzip", false},
		{"text/css; charset=utf-8", noise, "", false},
	} {
		c := NewContent(test.kind, []byte(test.body))
		h := func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, c.Send(w, r), nil, "c.Send(w, r)")
		}
		w := ask(http.HandlerFunc(h), "GET", "/x", "", "Accept-Encoding: "+test.accepts)
		require.Check(t, c.Size() == len(test.body) && (len(c.body) < c.Size()) == (test.body == long && test.kind != "image/png"),
			"%s: %d bytes of %d are kept", test.kind, len(c.body), c.Size())
		body := io.Reader(bytes.NewReader(w.Body.Bytes()))
		var err error
		if test.zipped {
			if body, err = gzip.NewReader(body); err != nil {
				t.Errorf("%q: %v", test.accepts, err)
				continue
			}
		}
		got, err := io.ReadAll(body)
		require.Check(t, err == nil && string(got) == test.body, "%q: %v, %.60q", test.accepts, err, got)
		require.Check(t, (w.Header().Get("Content-Encoding") == "gzip") == test.zipped && w.Header().Get("Content-Type") == test.kind,
			"%q: %v", test.accepts, w.Header())
		if varies := w.Header().Values("Vary"); len(varies) > 1 || (len(varies) == 1) != (test.body == long && test.kind != "image/png") {
			t.Errorf("%q: varies by %q", test.accepts, varies)
		}
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	tag := TagOf([]byte("a"), []byte("b"))
	require.Check(t, tag != TagOf([]byte("ab"), nil) && tag != TagOf([]byte("a"), []byte("c")) && tag == TagOf([]byte("a"), []byte("b")),
		"a tag does not stand for its parts")
	h, _, _ := newSite(map[string]Handler{"GET /x": func(w http.ResponseWriter, r *http.Request) error {
		if Unchanged(w, r, tag) {
			return nil
		}
		return ok(w, r)
	}})
	for has, want := range map[string]int{"": 200, tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, tag[:9]: 200} {
		w := ask(h, "GET", "/x", "", "If-None-Match: "+has, "Accept-Encoding: gzip")
		require.Check(t, w.Code == want && w.Header().Get("ETag") == tag && (want != 304 || w.Body.Len() <= 0),
			"%q: %d, %v, %q", has, w.Code, w.Header(), w.Body)
	}
}

// Another build has another name; the name of one build is constant.
func TestProgram(t *testing.T) {
	t.Parallel()
	one, other := Program(), Program()
	require.Check(t, one() == other() && len(one()) == 16, "%q and %q", one(), other())
}
