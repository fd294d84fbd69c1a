package param

import (
	"errors"
	"io"
)

// ErrUnfolds is returned by a reader of Unfolding where the text takes more memory than allowed.
var ErrUnfolds = errors.New("its lists and objects exceed the memory limit: send fewer or shorter ones")

// Upper bounds of the memory of JSON values: an object may become a struct with lists and strings
// of its own; a list has a header and spare capacity, and so has each of its elements.
const (
	objectBytes  = 512
	listBytes    = 64
	elementBytes = 24
)

// Unfolding returns a reader of the JSON in r that fails with ErrUnfolds before its values need
// more than about the given number of bytes. Two bytes of text, as in [[],[],[]], can take a
// hundred in memory, so the length of the text is no guide.
func Unfolding(r io.Reader, bytes int64) io.Reader { return &unfolding{r: r, left: bytes} }

type unfolding struct {
	r               io.Reader
	left            int64
	inText, escaped bool
}

func (u *unfolding) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	for _, c := range p[:n] {
		u.left--
		switch {
		case u.escaped:
			u.escaped = false
		case u.inText:
			u.escaped, u.inText = c == '\\', c != '"'
		case c == '"':
			u.inText = true
		case c == '{':
			u.left -= objectBytes
		case c == '[':
			u.left -= listBytes
		case c == ',':
			u.left -= elementBytes
		}
	}
	if u.left < 0 {
		return 0, ErrUnfolds
	}
	return n, err
}
