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
)

// Levels of gzip: for what is compressed once, above which it takes much longer and gains
// little, and for what is made anew for each answer, which is to come quickly.
const keptCompression, compression = 5, 1

// compressible are the types of answers that compression makes smaller.
var compressible = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "text/csv",
	"application/json", "application/problem+json", "application/manifest+json", "image/svg+xml",
}

// Content is the body of an answer that is made once and sent often. It is compressed
// when it is first sent, where that makes it smaller, and kept so.
type Content struct {
	kind string
	size int

	compress sync.Once
	body     []byte
	zipped   bool
	err      error // of compressing
}

// NewContent returns content of a media type.
func NewContent(kind string, body []byte) *Content {
	return &Content{kind: kind, size: len(body), body: body}
}

// Size is how many bytes of memory the content takes at most.
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

// Send answers with the content. The status is 200 unless it was written before.
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

// TagOf is a tag for Unchanged of all that an answer depends on.
func TagOf(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(strconv.AppendInt(nil, int64(len(part)), 10))
		sum.Write([]byte(" "))
		sum.Write(part)
	}
	return `W/"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"` // weak, because it is one for all encodings
}

// Matches reports whether a list of tags, as a request's If-Match has it, has tag.
func Matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// Unchanged names the answer by a tag and tells whether the browser has just that. Then
// it has been told so, and there is nothing left to send.
func Unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	if Matches(strings.Join(r.Header.Values("If-None-Match"), ","), tag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

// MayBeShared lets caches between us and the browser keep the answer, which is the same
// for everybody and opens nobody's workspace: for good, or asking each time whether it
// has changed.
func MayBeShared(w http.ResponseWriter, forGood bool) {
	h := w.Header()
	h.Del("Set-Cookie")
	h.Set("Cache-Control", "public, no-cache")
	if forGood {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
}

// Program is a function that names the running program, from its first call on: a digest of
// its file, so that another build has another name.
func Program() func() string {
	return sync.OnceValue(func() string {
		sum := sha256.New()
		path, err := os.Executable()
		if err == nil {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				_, err = io.Copy(sum, f)
				f.Close()
			}
		}
		if err != nil { // a name for as long as it runs
			return rand.Text()
		}
		return hex.EncodeToString(sum.Sum(nil)[:8])
	})
}
