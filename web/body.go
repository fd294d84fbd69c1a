package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"marginlab/ml/param"
)

// JSON writes v as a JSON response.
func JSON(w http.ResponseWriter, status int, v any) error {
	e := json.NewEncoder(&statusWriter{w, status})
	e.SetEscapeHTML(false) // never interpreted as HTML
	return e.Encode(v)     // in one Write
}

// NoContent responds with 204 No Content.
func NoContent(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// statusWriter writes the header of a JSON response before its first byte.
type statusWriter struct {
	w      http.ResponseWriter
	status int // 0 once written
}

func (s *statusWriter) Write(b []byte) (int, error) {
	if s.status != 0 {
		s.w.Header().Set("Content-Type", "application/json")
		s.w.WriteHeader(s.status)
		s.status = 0
	}
	return s.w.Write(b)
}

// jsonMemory bounds the memory of a body's lists and objects, in addition to its text.
const jsonMemory = 8 << 20

// ReadJSON reads the body of a request, of at most limit bytes, into v. Fields that v lacks are
// errors, as are lists that would exceed the memory of a request. Errors are for Site.Handle.
func ReadJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	dec := json.NewDecoder(param.Unfolding(http.MaxBytesReader(w, r.Body, limit), limit+jsonMemory))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		if err == nil {
			err = errors.New("unexpected data after the first value")
		}
	}
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, new(*http.MaxBytesError)), errors.As(err, new(param.Problems)), cutOff(err):
		return err
	case errors.As(err, &wrongType):
		field, found := wrongType.Field, strings.TrimPrefix(wrongType.Value, "number ") // of a number that is no whole one, or too large
		return param.Problems{{Field: field, Message: fmt.Sprintf("%s expects %s, not %s", cmp.Or(field, "the body"), jsonName(wrongType.Type.Kind().String()), found)}}
	case errors.Is(err, param.ErrUnfolds):
		return Errorf(TooLarge, "The lists and objects of this request take more than %s of memory, the maximum. Nothing was saved. Send fewer at a time.", param.Bytes(jsonMemory))
	case errors.Is(err, io.EOF):
		return Errorf(Malformed, "The request has no body; a JSON object was expected.")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // the package has no type for it
		name = strings.Trim(name, `"`)
		return param.Problems{{Field: name, Message: name + " is not a field of this request; /api/docs lists its fields"}}
	}
	return Errorf(Malformed, "The body is not JSON: %v", err)
}

// jsonName returns the JSON name of a kind of Go value.
func jsonName(kind string) string {
	switch kind {
	case "struct", "map":
		return "an object"
	case "slice", "array":
		return "a list"
	case "bool":
		return "true or false"
	case "string":
		return "text"
	case "float64":
		return "a number"
	}
	return "a whole number"
}

// formMemory bounds what a form's files take in memory. The rest goes to temporary files,
// removed with the request, so that slow uploads hold no memory.
const formMemory = 256 << 10

// FormBytes bounds the body of a form without a file.
const FormBytes = 4 << 20

// ParseForm reads the form of a request, of at most limit bytes including files. Errors are
// for Site.Handle.
func ParseForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	parse := r.ParseForm
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		parse = func() error { return r.ParseMultipartForm(formMemory) }
	}
	return receive(w, r, limit, parse)
}

// With returns a handler that calls find, then f with its result.
func With[T any](find func(*http.Request) (T, error), f func(http.ResponseWriter, *http.Request, T) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := find(r)
		if err != nil {
			return err
		}
		return f(w, r, v)
	}
}

// Form returns a handler that parses the request's form, of at most FormBytes bytes, before f.
func Form(f Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := ParseForm(w, r, FormBytes); err != nil {
			return err
		}
		return f(w, r)
	}
}

// Spool reads the body of a request, of at most limit bytes, into a temporary file, which is
// removed when closed. Errors are for Site.Handle.
func Spool(w http.ResponseWriter, r *http.Request, limit int64) (file Temp, n int64, err error) {
	f, err := TempFile()
	if err != nil {
		return Temp{}, 0, err
	}
	err = receive(w, r, limit, func() (err error) {
		n, err = io.Copy(f, r.Body)
		return err
	})
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return Temp{}, 0, errors.Join(err, f.Close())
	}
	return f, n, nil
}

// Temp is a temporary file that is removed when closed.
type Temp struct{ *os.File }

// TempFile creates a file for data too large to keep in memory while a client is slow.
func TempFile() (Temp, error) {
	f, err := os.CreateTemp("", "marginlab-")
	return Temp{f}, err
}

// Close closes the file and removes it.
func (f Temp) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// SendFile sends a file of size bytes, with a deadline that allows the slowest client permitted.
func SendFile(w http.ResponseWriter, file io.Reader, size int64) error {
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout + time.Duration(size/slowest)*time.Second)) // unsupported in some tests
	_, err := io.Copy(w, file)
	return err
}

// receive calls read to read the body of a request, of at most limit bytes, and maps its errors.
func receive(w http.ResponseWriter, r *http.Request, limit int64, read func() error) error {
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	if b, ok := r.Body.(*body); ok {
		defer b.leave() // do not wait for anything after the last field
	}
	defer func(sent io.ReadCloser) { r.Body = sent }(r.Body)
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	err := read()
	switch {
	case err == nil, errors.As(err, new(*http.MaxBytesError)), cutOff(err):
		return err
	case onDisk(err): // first, because a syscall.Errno is also a net.Error
		return fmt.Errorf("%w (%w)", errDisk, err)
	case errors.Is(err, multipart.ErrMessageTooLarge):
		return &http.MaxBytesError{Limit: limit}
	case errors.As(err, new(net.Error)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Errorf(Malformed, "The connection was interrupted before everything arrived. Nothing was saved; try again.")
	}
	return Errorf(Malformed, "The body could not be read: %v", err)
}

// errDisk replaces an error for which onDisk is true, because that one names a path of the server.
var errDisk = Errorf(Storage, "The server could not store the file: its disk is full or faulty. Nothing was saved; try again later.")

// onDisk reports whether err is an error of a local file.
func onDisk(err error) bool { return errors.As(err, new(*fs.PathError)) }
