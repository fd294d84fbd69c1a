package teach

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
)

// courseFormat is the version of course files.
const courseFormat = 1

// courseFile is a course without its students' work, to archive or share.
type courseFile struct {
	Format int      `json:"format"`
	Title  string   `json:"title"`
	Page   string   `json:"page"` // path and query
	Hidden []string `json:"hidden"`
	Frozen []string `json:"frozen"`
	Closed bool     `json:"closed"`
	Data   string   `json:"data,omitempty"`   // name of the data set
	Points string   `json:"points,omitempty"` // the course's own points, as canonical CSV

	Questions []store.OwnQuestion `json:"questions,omitempty"`
}

// SendCourse sends a course as a file.
func (a *Handler) SendCourse(w http.ResponseWriter, r *http.Request, g Course) error {
	f := courseFile{Format: courseFormat, Title: g.Title, Page: g.Target, Hidden: g.Hidden, Frozen: g.Frozen, Closed: g.Closed, Data: g.Data, Questions: g.Questions}
	if g.Hash != "" {
		d, err := a.Store.Data(r.Context(), g.Hash)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := d.Encode(&b); err != nil {
			return err
		}
		f.Points = b.String()
	}
	frame.Attach(w, g.Title+".json", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// Import creates a course from a file.
func (a *Handler) Import(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, 2*a.Limits.Bytes+web.FormBytes); err != nil {
		return err
	}
	file, head, err := r.FormFile("file")
	if err != nil {
		return a.showCourses(w, r, "", "", "Choose a file first.")
	}
	defer file.Close()
	leave, err := a.AdmitFile(r.Context(), w, head.Size, false)
	if err != nil {
		return err
	}
	defer leave()
	f, err := readCourse(file, head.Size)
	if err == nil {
		var c store.Course
		if c, err = a.create(r, f); err == nil {
			return frame.Redirect(w, r, "/courses/"+c.Code)
		}
	}
	told, err := results.UserMessage(err)
	if err != nil {
		return err
	}
	return a.showCourses(w, r, "", "", "The file was not imported. "+told)
}

func (a *Handler) create(r *http.Request, f courseFile) (c store.Course, err error) {
	n, err := f.course(a.Limits)
	if err != nil {
		return c, err
	}
	s, err := a.setting(r.Context(), n.Target)
	if err != nil {
		return c, err
	}
	n.Hidden, n.Frozen = known(s, n.Hidden), known(s, n.Frozen)
	for i, q := range n.Questions {
		if err := a.check(r.Context(), q); err != nil {
			return c, unfit("its question %d: %v", i+1, err)
		}
	}
	return a.Store.CreateCourse(r.Context(), frame.Workspace(r.Context()), n)
}

// known returns those controls that a page has, since other versions of the program may have
// others.
func known(s frame.Setting, controls []string) (names []string) {
	for _, g := range s.Groups {
		for _, c := range g.Controls {
			if slices.Contains(controls, c.Name) && !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// unfit reports an error in the file of a course.
func unfit(format string, args ...any) error {
	return param.Problems{{Field: "file", Message: fmt.Sprintf(format, args...)}}
}

// courseMemory bounds the memory of a course, in addition to the text of its file.
const courseMemory = 8 << 20

// readCourse reads a course file of size bytes. It returns param.Problems for an invalid one.
func readCourse(file io.Reader, size int64) (f courseFile, err error) {
	dec := json.NewDecoder(param.Unfolding(file, size+courseMemory))
	err = dec.Decode(&f)
	if err == nil {
		if _, err = dec.Token(); err == nil {
			err = errors.New("unexpected data after the course")
		}
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return f, unfit("its %s must not be a %s", wrong.Field, wrong.Value)
	}
	if err != io.EOF || f.Format == 0 {
		return f, unfit("it is not a course file: use one from Export on the page of a course")
	}
	return f, nil
}

// course returns the course of a file. It returns param.Problems for an invalid one.
func (f courseFile) course(most dataset.Limits) (n store.NewCourse, err error) {
	if f.Format != courseFormat {
		return n, unfit("its format is %d; this program reads format %d", f.Format, courseFormat)
	}
	n = store.NewCourse{Title: f.Title, Target: f.Page, Hidden: f.Hidden, Frozen: f.Frozen, Closed: f.Closed, Data: f.Data, Questions: f.Questions}
	if f.Points == "" {
		return n, nil
	}
	rows := cmp.Or(max(most.Rows, 0), math.MaxInt)
	if n.Points, err = dataset.DecodeUpTo(strings.NewReader(f.Points), rows); err != nil {
		if _, ok := errors.AsType[*dataset.Error](err); ok {
			return n, unfit("its points cannot be read: %v", err)
		}
		return n, err
	}
	return n, nil
}
