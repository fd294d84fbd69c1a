package param

import (
	"errors"
	"io"
)

// ErrUnfolds is the error of a reader of Unfolding if the JSON needs too much memory.
var ErrUnfolds = errors.New("its lists and objects exceed the memory limit: send fewer or shorter ones")

// Upper bounds of the memory of decoded JSON, in bytes. An object may become a struct that holds
// slices and strings; a list and each of its elements may have a slice header and spare capacity.
const (
	objectBytes  = 512
	listBytes    = 64
	elementBytes = 24
)

// Unfolding returns a reader of the JSON in r that fails with ErrUnfolds before the decoded values
// need more than about the given number of bytes. Limiting the length of the text is not enough:
// the two bytes of an empty list, as in [[],[],[]], can take a hundred in memory.
func Unfolding(r io.Reader, bytes int64) io.Reader { return &unfolding{r: r, left: bytes} }

type unfolding struct {
	r                 io.Reader
	left              int64
	inString, escaped bool
}

func (u *unfolding) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	for _, c := range p[:n] {
		u.left--
		switch {
		case u.escaped:
			u.escaped = false
		case u.inString:
			u.escaped, u.inString = c == '\\', c != '"'
		case c == '"':
			u.inString = true
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
