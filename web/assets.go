package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Assets serves static files below a prefix that changes with their contents, so
// that browsers may keep them for good. The prefix is one for all files: ES
// modules import each other by relative paths, which then carry it along.
type Assets struct {
	version string
	files   map[string][]byte
}

// NewAssets reads the files of fsys.
func NewAssets(fsys fs.FS) (*Assets, error) {
	a := &Assets{files: map[string][]byte{}}
	sum := sha256.New()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error { // in lexical order
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		a.files[name] = body
		fmt.Fprintf(sum, "%s %d\n", name, len(body))
		sum.Write(body)
		return nil
	})
	a.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return a, err
}

// Prefix is what comes before a file's name in its address: "/static/VERSION/".
func (a *Assets) Prefix() string { return "/static/" + a.version + "/" }

// URL is the address of a file.
func (a *Assets) URL(name string) string { return a.Prefix() + name }

// mediaTypes are set by hand: what the machine's own table says varies.
var mediaTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".ico":         "image/x-icon",
	".json":        "application/json",
	".webmanifest": "application/manifest+json",
	".txt":         "text/plain; charset=utf-8",
	".woff2":       "font/woff2",
}

// ServeHTTP answers /static/VERSION/NAME. A page from before an update still
// finds its files, in their present form and not to be kept.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
	body, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	if version == a.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("ETag", `"`+a.version+`"`)
	if kind := mediaTypes[path.Ext(name)]; kind != "" {
		h.Set("Content-Type", kind)
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}
