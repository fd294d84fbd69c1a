package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"marginlab/ml/param"
)

// JSON answers with v as JSON.
func JSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadJSON reads the body of a request, of at most limit bytes, into v. Fields
// that v does not have are errors. What is wrong comes back as an error for
// Site.Handle.
func ReadJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		if err == nil {
			err = errors.New("there is more after the first value")
		}
	}
	var tooLarge *http.MaxBytesError
	var problems param.Problems
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &tooLarge), errors.As(err, &problems):
		return err
	case errors.As(err, &wrongType):
		field := wrongType.Field
		return param.Problems{{Field: field, Message: fmt.Sprintf("%s expects %s, not %s", cmp.Or(field, "the body"), jsonName(wrongType.Type.Kind().String()), wrongType.Value)}}
	case errors.Is(err, io.EOF):
		return Errorf(Malformed, "The request has no body; a JSON object was expected.")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // the package has no type for it
		name = strings.Trim(name, `"`)
		return param.Problems{{Field: name, Message: name + " is not a field of this request"}}
	}
	return Errorf(Malformed, "The body is not JSON: %v", err)
}

// jsonName is what JSON calls a kind of Go value.
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
	}
	return "a number"
}

// ParseForm reads the form of a request, of at most limit bytes, files included,
// which it keeps in memory. What is wrong comes back as an error for Site.Handle.
func ParseForm(w http.ResponseWriter, r *http.Request, limit int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	parse := r.ParseForm
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		parse = func() error { return r.ParseMultipartForm(limit) }
	}
	err := parse()
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &tooLarge):
		return err
	case errors.Is(err, multipart.ErrMessageTooLarge):
		return &http.MaxBytesError{Limit: limit}
	}
	return Errorf(Malformed, "The form could not be read: %v", err)
}
