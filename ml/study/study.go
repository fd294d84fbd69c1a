// Package study compares learners over data sets.
//
// A study combines data sets and learners under one validation scheme, written as a small TOML
// file ([Parse], [Study.Encode]). All learners use the same folds of a data set and choose their
// settings on the training points of each: the accuracies come from nested cross-validation, as
// in package eval. [Run] computes the cells, [Result] holds the results with the statistics for
// comparisons over several data sets (Demšar: "Statistical comparisons of classifiers over
// multiple data sets", JMLR 7, 2006), and [Result.Tables] formats them.
package study

import (
	"embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
)

// Study compares learners on data sets.
type Study struct {
	Title    string
	Version  string // program version that wrote the file; empty if written by hand
	Baseline string // the learner that the others are compared with
	Folds    int    // folds of every data set
	Repeats  int    // repetitions with other folds
	Seed     uint64 // for the folds and the subsampling of large data sets
	MaxRows  int    // maximal size of a data set, subsampled by class; 0: no limit
	Values   bool   // regression instead of classification
	Sets     []Set
	Learners []Learner

	// Dir is the base folder of file paths, the folder of the study's own file.
	Dir string
}

// Set is a data set: from a file, a generator, or the program itself.
type Set struct {
	Name      string
	File      string // relative to Study.Dir
	Builtin   string // slug of a dataset.Builtin
	Generator string // name of a dataset.Generator
	Values    param.Values
	Label     string          // column of a file; default as proposed by dataset.Table
	Features  []string        // columns of a file; nil: all
	Missing   dataset.Missing // treatment of missing values in a file; empty: they are errors
	Positive  string          // one class against all others; empty: all classes
	SHA256    string          // required hash of the objects used; empty: any

	Data *dataset.Data // content of File if known; nil: File is read
}

// Learner is one of the compared learners, with the grid of settings to choose from.
type Learner struct {
	Name string
	Spec ml.Spec
	Grid eval.Grid // empty if there is nothing to choose
}

// Ready is a built-in study.
type Ready struct {
	Name  string // name for Builtin and the command line
	Label string // kind of its data
	Help  string
}

// Builtins lists the built-in studies. matrices has no data of its own.
var Builtins = []Ready{
	{"lecture", "Points of two classes", "SVM, MCM and sparse MCM, each with and without a conformal map: the lecture's claim"},
	{"classes", "Points of several classes", "one-vs-one, one-vs-rest, and all classes at once"},
	{"values", "Points with values", "kernels for regression"},
	{"strings", "Strings", "subsequences with and without gaps"},
	{"graphs", "Graphs", "kernels of neighbours and of walks"},
	{"matrices", "Kernel matrices", "learners on kernel matrices given with --data"},
}

//go:embed *.toml
var builtins embed.FS

// Builtin returns the built-in study of that name.
func Builtin(name string) (*Study, bool) {
	if !slices.ContainsFunc(Builtins, func(r Ready) bool { return r.Name == name }) {
		return nil, false
	}
	text, err := builtins.ReadFile(name + ".toml")
	if err != nil {
		panic(err) // not an input error: a test parses every built-in study
	}
	s, err := parse(string(text), name, true)
	if err != nil {
		panic(err)
	}
	return s, true
}

func (s *Study) path(set Set) string {
	if filepath.IsAbs(set.File) {
		return set.File
	}
	return filepath.Join(s.Dir, set.File)
}

// Add adds a file as a data set named after it, without the extension, or else the built-in data set
// of that name.
func (s *Study) Add(path string) error {
	own := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if err := CheckName(own); err != nil {
		return fmt.Errorf("%s: data set %w", path, err)
	}
	if slices.ContainsFunc(s.Sets, func(set Set) bool { return set.Name == own }) {
		return param.Refuse("rename the file", "%s: the study already has a data set %s", path, own)
	}
	set := Set{Name: own}
	if _, err := os.Stat(path); err != nil {
		if _, ok := dataset.FindBuiltin(path); ok {
			set.Builtin = path
		}
	}
	if set.Builtin == "" {
		whole, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		set.File = whole
	}
	s.Sets = append(s.Sets, set)
	return nil
}

// Moved returns the study for a file in another folder, with adjusted paths.
func (s *Study) Moved(dir string) (*Study, error) {
	to, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	moved := *s
	moved.Dir, moved.Sets = dir, nil
	for _, set := range s.Sets {
		if set.File != "" {
			from, err := filepath.Abs(s.path(set))
			if err != nil {
				return nil, err
			}
			set.File = from
			if rel, err := filepath.Rel(to, from); err == nil {
				set.File = rel
			}
			set.File = filepath.ToSlash(set.File)
		}
		moved.Sets = append(moved.Sets, set)
	}
	return &moved, nil
}

// Without returns the study without the named learner or data set, or nil if no comparison remains.
func (s *Study) Without(learner, set string) *Study {
	less := *s
	less.Title = "" // it may mention their number
	less.Learners = slices.DeleteFunc(slices.Clone(s.Learners), func(l Learner) bool { return l.Name == learner })
	less.Sets = slices.DeleteFunc(slices.Clone(s.Sets), func(o Set) bool { return o.Name == set })
	if len(less.Learners) == 0 || len(less.Sets) == 0 {
		return nil
	}
	if s.Baseline == learner {
		less.Baseline = less.Learners[0].Name
	}
	return &less
}

// Sample is a data set as used in a study.
type Sample struct {
	*dataset.Data
	Of     int           // objects before subsampling
	Whole  *dataset.Data // before subsampling
	SHA256 string        // of the objects used
}

// Load reads, generates and subsamples all data sets. read reads a file of rows. Errors name the
// set.
func (s *Study) Load(read func(path string) (*dataset.Table, error)) ([]Sample, error) {
	samples := make([]Sample, len(s.Sets))
	for i, set := range s.Sets {
		d, err := s.load(set, read)
		if err != nil {
			return nil, fmt.Errorf("data set %s: %w", set.Name, err)
		}
		m := Sample{Data: d, Of: d.Len(), Whole: d}
		if s.MaxRows > 0 && m.Of > s.MaxRows {
			class := make([]float64, m.Of) // a single class for a regression
			for i, c := range d.Y {
				if !s.Values {
					class[i] = float64(c)
				}
			}
			some, _ := dataset.Split(class, 1-float64(s.MaxRows)/float64(m.Of), s.Seed)
			m.Data = d.Sample(some)
		}
		if _, err := s.variance(m.Data); err != nil {
			return nil, fmt.Errorf("data set %s: %w", set.Name, err)
		}
		m.SHA256 = m.Hash()
		if set.SHA256 != "" && set.SHA256 != m.SHA256 {
			return nil, param.Refuse("use the data of the original study, or remove sha256", "data set %s: the objects have the SHA-256 %s, but the study expects %s", set.Name, m.SHA256, set.SHA256)
		}
		samples[i] = m
	}
	return samples, nil
}

// variance returns the variance of the values of a data set, 0 for classification.
func (s *Study) variance(d *dataset.Data) (float64, error) {
	if !s.Values {
		return 0, nil
	}
	values, err := d.Values()
	if err != nil {
		return 0, param.Refuse("use other data, or remove target", "target: %v", err)
	}
	v := stat.PopVariance(values, nil)
	if !(v > 0) || math.IsInf(v, 0) {
		return 0, param.Refuse("use other data", "errors cannot be scaled by the variance of the values, which is %g", v)
	}
	return v, nil
}

func (s *Study) load(set Set, read func(path string) (*dataset.Table, error)) (*dataset.Data, error) {
	switch {
	case set.Data != nil:
		return set.Data, nil
	case set.Generator != "":
		g, err := dataset.FindGenerator(set.Generator)
		if err != nil {
			return nil, err
		}
		return g.Generate(set.Values)
	case set.Builtin != "":
		b, ok := dataset.FindBuiltin(set.Builtin)
		if !ok {
			return nil, unknownBuiltin(set.Builtin)
		}
		return b.Load()
	}
	t, err := read(s.path(set))
	if err != nil {
		return nil, err
	}
	m := dataset.Mapping{Label: set.Label, Features: set.Features, Missing: set.Missing}
	if kind := s.Learners[0].Spec.Takes(); kind != dataset.KindVectors {
		m.Kind = kind
	}
	return t.Data(m)
}
