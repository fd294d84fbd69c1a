package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Assets serves static files below a prefix that changes with their contents, so
// that browsers may cache them forever. All files share one prefix, because ES
// modules import each other by relative paths.
type Assets struct {
	version string
	files   map[string]*Content
}

// NewAssets reads the files of fsys.
func NewAssets(fsys fs.FS) (*Assets, error) {
	a := &Assets{files: map[string]*Content{}}
	sum := sha256.New()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error { // in lexical order
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		a.files[name] = NewContent(cmp.Or(mediaTypes[path.Ext(name)], "application/octet-stream"), body)
		fmt.Fprintf(sum, "%s %d\n", name, len(body))
		sum.Write(body)
		return nil
	})
	a.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return a, err
}

// Prefix returns the part of an address before the file's name: "/static/VERSION/".
func (a *Assets) Prefix() string { return "/static/" + a.version + "/" }

// URL returns the address of a file.
func (a *Assets) URL(name string) string { return a.Prefix() + name }

// mediaTypes replaces the system's table, which varies between machines.
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

// Serve answers /static/VERSION/NAME. An older version gets the current file,
// uncached, so that pages loaded before an update keep working.
func (a *Assets) Serve(w http.ResponseWriter, r *http.Request) error {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
	file, ok := a.files[name]
	if !ok {
		return Errorf(NotFound, "There is no such file.")
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // for embedded demos in a sandbox without an origin
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	MayBeShared(w, version == a.version)
	if Unchanged(w, r, `W/"`+a.version+`"`) {
		return nil
	}
	return file.Send(w, r)
}
