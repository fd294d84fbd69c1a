package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Levels of gzip: for content compressed once and cached (higher levels cost much and gain
// little), and for responses compressed each time, where speed counts.
const keptCompression, compression = 5, 1

// compressible lists the media types worth compressing.
var compressible = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "text/csv",
	"application/json", "application/problem+json", "application/manifest+json", "image/svg+xml",
}

// Content is a response body that is built once and sent often. It is compressed on
// first use, if that makes it smaller, and the result is cached.
type Content struct {
	kind string
	size int

	compress sync.Once
	body     []byte
	zipped   bool
	err      error // error from compressing
}

// NewContent returns content of a media type.
func NewContent(kind string, body []byte) *Content {
	return &Content{kind: kind, size: len(body), body: body}
}

// Size returns an upper bound of the content's memory in bytes.
func (c *Content) Size() int { return c.size }

func (c *Content) zip() {
	if plain, _, _ := strings.Cut(c.kind, ";"); !slices.Contains(compressible, plain) {
		return
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, keptCompression)
	if err == nil {
		_, err = z.Write(c.body)
	}
	if err == nil {
		err = z.Close()
	}
	if c.err = err; err == nil && b.Len() < len(c.body) {
		c.body, c.zipped = bytes.Clone(b.Bytes()), true
	}
}

// Send sends the content, with status 200 unless a status was already written.
func (c *Content) Send(w http.ResponseWriter, r *http.Request) error {
	if c.compress.Do(c.zip); c.err != nil {
		return c.err
	}
	h := w.Header()
	h.Set("Content-Type", c.kind)
	body := c.body
	if c.zipped {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
		} else {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return err
			}
			if body, err = io.ReadAll(z); err != nil {
				return err
			}
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body)
	return err
}

func acceptsGzip(r *http.Request) bool {
	for accepted := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(accepted, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, weighed := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			v, err := strconv.ParseFloat(q, 64)
			return !weighed || err == nil && v > 0
		}
	}
	return false
}

// TagOf returns an entity tag for Unchanged from everything that a response depends on.
func TagOf(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(strconv.AppendInt(nil, int64(len(part)), 10))
		sum.Write([]byte(" "))
		sum.Write(part)
	}
	return `W/"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"` // weak, because shared by all encodings
}

// Matches reports whether list, in the syntax of If-Match, contains tag.
func Matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// Unchanged sets the response's entity tag and reports whether the browser already has that
// version. If so, it has sent 304 Not Modified and the response is complete.
func Unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	if Matches(strings.Join(r.Header.Values("If-None-Match"), ","), tag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// MayBeShared lets shared caches store the response, which must be the same for everyone: forever
// if forGood, else revalidated on each use.
func MayBeShared(w http.ResponseWriter, forGood bool) {
	h := w.Header()
	h.Del("Set-Cookie")
	h.Set("Cache-Control", "public, no-cache")
	if forGood {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
}

// Program returns a function that identifies this build by a digest of its executable,
// computed on the first call.
func Program() func() string {
	return sync.OnceValue(func() string {
		sum := xxhash.New()
		path, err := os.Executable()
		if err == nil {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				_, err = io.Copy(sum, f)
				f.Close()
			}
		}
		if err != nil { // identifies this process instead
			return rand.Text()
		}
		return hex.EncodeToString(sum.Sum(nil))
	})
}
