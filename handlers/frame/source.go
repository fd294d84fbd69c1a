package frame

import (
	"context"
	"errors"
	"strings"

	"marginlab/handlers/background"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
)

// ChangeOf returns the Question that asks what would change the result of a run.
func (a *Base) ChangeOf(ctx context.Context, run store.Run) (background.Question, error) {
	if run.Report == nil {
		return background.Question{}, store.ErrNotFound
	}
	data, err := a.Stored(ctx, run.Hash)
	return background.Question{From: run.DatasetName, Data: data, Hash: run.Hash, Spec: run.Spec, Name: run.Name, Page: "/runs/" + run.ID + "/change"}, err
}

// storedValues bounds the cached values of stored data: 8 bytes each, and as much again for derived
// data.
const storedValues = 4 << 20

// valuesOf returns the number of values in data for the cache. Objects other than vectors may be
// of any size, so only two sets of those are cached.
func valuesOf(d *dataset.Data) int {
	if d.X == nil {
		return storedValues / 2
	}
	rows, columns := d.X.Dims()
	return rows * (columns + 1)
}

// OriginOf describes the source of data and how they were read.
func OriginOf(from string, d *dataset.Data) string {
	return strings.Join(append([]string{from}, d.Notes...), "; ")
}

// Points is data with its name.
type Points struct {
	Name string
	Data *dataset.Data // nil: the empty drawing
	Hash string        // of Data, computed once and carried
}

// Source returns the points of an id: a stored, built-in or generated set, the points of a run,
// search, link or course, or the empty drawing. The data are shared and must not be modified.
func (a *Base) Source(ctx context.Context, id string) (p Points, err error) {
	if id == Drawing {
		return Points{Name: "Drawing"}, nil
	}
	if b, ok := dataset.FindBuiltin(id); ok {
		d, err := b.Load()
		if err != nil {
			return p, err
		}
		hash, err := a.hashes.Get(ctx, id, func(context.Context) (string, error) { return d.Hash(), nil })
		return Points{b.Name, d, hash}, err
	}
	if strings.HasPrefix(id, OfGenerator) {
		return a.generated(ctx, id)
	}
	if p, err = a.Locate(ctx, id); err != nil {
		return p, err
	}
	if p.Data, err = a.Stored(ctx, p.Hash); errors.Is(err, store.ErrNotFound) && IsStored(id) { // replaced in between
		var set store.Dataset
		set, p.Data, err = a.Store.DatasetWithData(ctx, Workspace(ctx), id)
		p.Name, p.Hash = set.Name, set.Hash
	}
	return p, err
}

// Stored returns the data with a hash, cached and shared; they must not be modified.
func (a *Base) Stored(ctx context.Context, hash string) (*dataset.Data, error) {
	return a.stored.Get(ctx, hash, func(ctx context.Context) (*dataset.Data, error) { return a.Store.Data(ctx, hash) })
}

// Locate is Source for data that are not built in, without reading them.
func (a *Base) Locate(ctx context.Context, id string) (p Points, err error) {
	if run, ok := strings.CutPrefix(id, OfRun); ok {
		r, err := a.Store.RunWithoutModels(ctx, Workspace(ctx), run)
		return Points{Name: r.DatasetName, Hash: r.Hash}, err
	}
	if token, ok := strings.CutPrefix(id, OfShared); ok {
		r, err := a.Store.SharedRunWithoutModels(ctx, token)
		return Points{Name: r.DatasetName, Hash: r.Hash}, err
	}
	if search, ok := strings.CutPrefix(id, OfSearch); ok {
		s, err := a.Store.Search(ctx, Workspace(ctx), search)
		return Points{Name: s.DatasetName, Hash: s.Hash}, err
	}
	if code, ok := courseOf(id); ok {
		c, err := a.FindCourse(ctx, code)
		return Points{Name: c.Data, Hash: c.Hash}, err
	}
	if token, ok := strings.CutPrefix(id, OfLink); ok {
		l, err := a.Store.Link(ctx, token)
		if err == nil && l.Hash == "" {
			err = store.ErrNotFound
		}
		return Points{Name: l.Data, Hash: l.Hash}, err
	}
	set, err := a.Store.Dataset(ctx, Workspace(ctx), id)
	return Points{Name: set.Name, Hash: set.Hash}, err
}

// ErrChanged is the error of ReplaceData for data that have changed.
var ErrChanged = errors.New("the data set has another version")

// ReplaceData replaces the rows of a data set, or returns ErrChanged if its hash is no longer that
// of set.
func (a *Base) ReplaceData(ctx context.Context, set store.Dataset, d *dataset.Data) error {
	ws := Workspace(ctx)
	_, err := a.Store.ReplaceData(store.OnlyIf(ctx, func(ctx context.Context) error {
		now, err := a.Store.Dataset(ctx, ws, set.ID)
		if err == nil && now.Hash != set.Hash {
			err = ErrChanged
		}
		return err
	}), ws, set.ID, d)
	return err
}

// courseOf returns the code of the course that an id's points belong to.
func courseOf(id string) (code string, ok bool) {
	if code, ok = strings.CutPrefix(id, ofCourse); !ok {
		code, ok = strings.CutPrefix(id, "class-") // in old links; see CodeOf
	}
	return code, ok
}

// IsStored reports whether an id belongs to a data set of the workspace.
func IsStored(id string) bool {
	_, brought := courseOf(id)
	return !IsPublic(id) && !strings.HasPrefix(id, OfRun) && !strings.HasPrefix(id, OfSearch) && !strings.HasPrefix(id, OfLink) && !strings.HasPrefix(id, OfShared) && !brought
}

// IsPublic reports whether everyone can open the data of an id. An empty id stands for a page's
// default data.
func IsPublic(id string) bool {
	_, builtin := dataset.FindBuiltin(id)
	return builtin || id == Drawing || id == "" || strings.HasPrefix(id, OfGenerator)
}

const (
	// Drawing is the id of an empty drawing.
	Drawing = "drawing"
	// OfRun is the prefix of the ids of the points of runs.
	OfRun = "run-"
	// OfShared is the prefix of the ids of the points of shared runs, followed by the token.
	OfShared = "shared-"
	// OfSearch is the prefix of the ids of the points of searches.
	OfSearch = "search-"
	// OfLink is the prefix of the ids of the points of links.
	OfLink = "link-"
	// ofCourse is the prefix of the ids of the points of courses, followed by the code.
	ofCourse = "course-"
)

// Choices lists the data sets that the lab can open. It leaves the kind of a course's own points
// open.
func (a *Base) Choices(ctx context.Context, chosen string, course *store.Course) ([]views.Choice, error) {
	sets, err := a.Store.Datasets(ctx, Workspace(ctx))
	if err != nil {
		return nil, err
	}
	var cs []views.Choice
	add := func(group, id, name string, kind dataset.Kind) {
		cs = append(cs, views.Choice{Group: group, ID: id, Name: name, Chosen: id == chosen, Vectors: kind == dataset.KindVectors})
	}
	if course != nil && course.Hash != "" {
		add("Of the course", ofCourse+course.Code, course.Data, dataset.KindVectors)
	}
	for _, s := range sets {
		add("Your data sets", s.ID, s.Name, s.Kind)
	}
	for _, d := range dataset.Builtins {
		add("Built in", d.Slug, d.Name, d.Kind)
	}
	add("New", Drawing, "Empty drawing", dataset.KindVectors)
	return cs, nil
}
