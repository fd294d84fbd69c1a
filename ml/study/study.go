// Package study compares learners over data sets.
//
// A study is data sets times learners under one scheme of validation, written down as a
// small TOML file ([Parse], [Study.Encode]). Every learner meets the same folds of a data
// set, and chooses its settings anew within the training points of each: the accuracies
// come from nested cross-validation, as package eval computes them. [Run] computes the
// cells of all that, [Result] is what they come to, with the statistics that are due when
// learners meet on several data sets (Demšar: "Statistical comparisons of classifiers over
// multiple data sets", JMLR 7, 2006), and [Result.Tables] is that for people.
package study

import (
	"embed"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
)

// Study is a question put to data: which of the learners do how well?
type Study struct {
	Title    string
	Version  string // of the program that wrote the file; empty where a person did
	Baseline string // the learner that the others are compared with
	Folds    int    // that every data set is dealt into
	Repeats  int    // how often it is dealt
	Seed     uint64 // decides how, and which objects of a large data set take part
	MaxRows  int    // of a data set that take part, a share of every class; 0: all
	Values   bool   // the labels are values to fit, rather than classes
	Sets     []Set
	Learners []Learner

	// Dir is the folder from which paths of files start, that of the study's own file.
	Dir string
}

// Set is where a data set comes from: a file, a generator, or the program itself.
type Set struct {
	Name      string
	File      string // path, from Study.Dir
	Builtin   string // slug of a dataset.Builtin
	Generator string // name of a dataset.Generator
	Values    param.Values
	Label     string          // column of a file; empty: as dataset.Table proposes
	Features  []string        // columns of a file; nil: all
	Missing   dataset.Missing // what to do with missing values in a file; empty: they are a fault
	Positive  string          // class against all others; empty: all classes
	SHA256    string          // that the objects have to have which take part; empty: any

	Data *dataset.Data // what File has, where that is known; nil: File is read
}

// Learner is one of those compared: what it is trained with, and the values that it
// chooses from.
type Learner struct {
	Name string
	Spec ml.Spec
	Grid eval.Grid // empty where there is nothing to choose
}

// Ready is a study that comes with the program.
type Ready struct {
	Name  string // as Builtin and the terminal take it
	Label string // what its data are
	Help  string
}

// Builtins lists them. matrices has no data of its own.
var Builtins = []Ready{
	{"lecture", "Points of two classes", "SVM, MCM and sparse MCM, each with and without a conformal map: the lecture's claim"},
	{"classes", "Points of several classes", "machines for pairs of classes, for each class against the rest, and for all at once"},
	{"values", "Points with values", "kernels of a regression"},
	{"strings", "Strings", "kernels of words with and without gaps"},
	{"graphs", "Graphs", "kernels of neighbours and of walks"},
	{"matrices", "Kernel matrices", "machines on values of a kernel, which --data brings"},
}

//go:embed *.toml
var builtins embed.FS

// Builtin returns the study of that name that comes with the program.
func Builtin(name string) (*Study, bool) {
	if !slices.ContainsFunc(Builtins, func(r Ready) bool { return r.Name == name }) {
		return nil, false
	}
	text, err := builtins.ReadFile(name + ".toml")
	if err != nil {
		panic(err) // not data: a test reads it
	}
	s, err := parse(string(text), name, true)
	if err != nil {
		panic(err)
	}
	return s, true
}

// path returns the path of a set's file.
func (s *Study) path(set Set) string {
	if filepath.IsAbs(set.File) {
		return set.File
	}
	return filepath.Join(s.Dir, set.File)
}

// Add adds a data set, a file that gives the set its name, without the extension.
func (s *Study) Add(path string) error {
	own := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if err := CheckName(own); err != nil {
		return fmt.Errorf("%s: as a data set, its %w", path, err)
	}
	if slices.ContainsFunc(s.Sets, func(set Set) bool { return set.Name == own }) {
		return param.Refuse("give the file another name", "%s: the study has a data set %s already", path, own)
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.Sets = append(s.Sets, Set{Name: own, File: whole})
	return nil
}

// Moved is the study as a file in another folder says it: paths start from there.
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

// Without is the study without a learner or a data set, named as it is there; nil where
// nothing would be left to compare.
func (s *Study) Without(learner, set string) *Study {
	less := *s
	less.Title = "" // which may count them
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

// Sample is a data set as it takes part in a study.
type Sample struct {
	*dataset.Data
	Of     int           // objects that there were
	Whole  *dataset.Data // all of these
	SHA256 string        // of those that take part
}

// Load reads, draws and thins out all data sets. read reads a file of rows. Errors name
// the set.
func (s *Study) Load(read func(path string) (*dataset.Table, error)) ([]Sample, error) {
	samples := make([]Sample, len(s.Sets))
	for i, set := range s.Sets {
		d, err := s.load(set, read)
		if err != nil {
			return nil, fmt.Errorf("data set %s: %w", set.Name, err)
		}
		m := Sample{Data: d, Of: d.Len(), Whole: d}
		if s.MaxRows > 0 && m.Of > s.MaxRows {
			class := make([]float64, m.Of) // all in one where there are values
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
			return nil, param.Refuse("take the data that the study was made with, or leave sha256 out", "data set %s: the objects have the SHA-256 %s, and the study says %s", set.Name, m.SHA256, set.SHA256)
		}
		samples[i] = m
	}
	return samples, nil
}

// variance returns the variance of the values of a data set; 0 where there are classes.
func (s *Study) variance(d *dataset.Data) (float64, error) {
	if !s.Values {
		return 0, nil
	}
	values, err := d.Values()
	if err != nil {
		return 0, param.Refuse("take other data, or leave target out", "target: %v, as every value must be", err)
	}
	v := stat.PopVariance(values, nil)
	if !(v > 0) || math.IsInf(v, 0) {
		return 0, param.Refuse("take other data", "its values have the variance %g, and errors are measured by that", v)
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
