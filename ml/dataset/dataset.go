// Package dataset reads, generates, splits, scales and projects labelled points.
package dataset

import (
	"io"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Data is a labelled point set.
type Data struct {
	Features []string   // names of the d columns, unique, not empty
	Label    string     // name of the label column
	X        *mat.Dense // n x d, finite
	Classes  []string   // distinct labels, sorted
	Y        []int      // n indices into Classes
}

// Limits bound what a reader accepts.
type Limits struct {
	Bytes   int64 // 10 MB
	Rows    int   // 100 000
	Columns int   // 200, label included
}

// DefaultLimits are the limits of uploads unless flags change them.
var DefaultLimits = Limits{Bytes: 10 << 20, Rows: 100_000, Columns: 200}

// Table is a file as read: cells still text, not yet told apart into features and label.
type Table struct {
	File    string // name for error messages
	Format  string // "csv", "libsvm", "arff"; Separator says more for csv
	Columns []Column
	Lines   []int // line number in the file of each row
}

// Column is one column of a Table.
type Column struct {
	Name    string
	Cells   []string
	Numeric bool // every cell is a finite number
}

// Mapping says which column is the label and which are features.
type Mapping struct {
	Label    string
	Features []string // nil: all others
}

// Error is a fault in a file: where it is and what was expected.
type Error struct {
	File         string
	Line, Column int // 1-based; 0 when it concerns the whole file
	Message      string
}

func (e *Error) Error() string { panic("todo") }

// ParseTable reads a file of any known format.
func ParseTable(r io.Reader, file string, lim Limits) (*Table, error) { panic("todo") }

// Guess proposes a mapping and says whether it is beyond doubt.
func (t *Table) Guess() (m Mapping, obvious bool) { panic("todo") }

// Data applies a mapping.
func (t *Table) Data(m Mapping) (*Data, error) { panic("todo") }

// Read is ParseTable, Guess where m leaves things open, and Data.
func Read(r io.Reader, file string, m Mapping, lim Limits) (*Data, error) { panic("todo") }

// Encode writes the canonical CSV form: header, features at full precision, label
// last. Equal data have equal bytes; their SHA-256 is the data hash.
func (d *Data) Encode(w io.Writer) error { panic("todo") }

// Decode reads what Encode wrote, exactly.
func Decode(r io.Reader) (*Data, error) { panic("todo") }

// Columns returns the data with only the named features, in that order.
func (d *Data) Columns(names []string) (*Data, error) { panic("todo") }

// Binary returns labels ±1: +1 where the class is positive. An empty positive
// means the last of two classes; with more than two it must be named, and the
// others together are -1.
func (d *Data) Binary(positive string) (y []float64, pos, neg string, err error) { panic("todo") }

// Split draws a stratified held-out set: every class gives round(fraction n_c)
// rows, but keeps at least one for training. Rows come back ascending.
func Split(y []float64, fraction float64, seed uint64) (train, test []int) { panic("todo") }

// Scaler standardises: (x - Mean) / Scale, population standard deviation,
// divisor 1 for a constant column.
type Scaler struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"`
}

// FitScaler fits on the rows of x.
func FitScaler(x *mat.Dense) *Scaler { panic("todo") }

// Apply returns the scaled copy of x.
func (s *Scaler) Apply(x *mat.Dense) *mat.Dense { panic("todo") }

// Generator makes point sets.
type Generator struct {
	Name, Label, Help string
	Params            []param.Param // n, noise, and what else it takes
	make              func(n int, noise float64, seed uint64) *Data
}

// Generators lists them: blobs, moons, circles, xor, spiral, checkerboard, separable.
var Generators []Generator

// Generate makes n points with the named generator.
func Generate(name string, n int, noise float64, seed uint64) (*Data, error) { panic("todo") }

// Builtin is a data set that comes with the program.
type Builtin struct {
	Slug, Name, Help string
	Source           string // where it comes from
	load             func() (*Data, error)
}

// Builtins lists them: pairs of iris classes on two features, generated classics.
var Builtins []Builtin

// View is a two-dimensional picture of R^d: forward s = To·(x - Center), and
// back to the plane x = Center + s Axes[0] + t Axes[1].
type View struct {
	Labels [2]string    `json:"labels"`
	Center []float64    `json:"center"`
	To     [2][]float64 `json:"to"`
	Axes   [2][]float64 `json:"axes"`
	Exact  bool         `json:"exact"` // d = 2: the picture is the space itself
}

// ColumnView shows columns a and b with the other columns at their means.
func ColumnView(d *Data, a, b string) (View, error) { panic("todo") }

// PCAView shows the two leading principal components of the standardised rows.
func PCAView(d *Data) View { panic("todo") }

// Point projects a row of R^d.
func (v View) Point(x []float64) (s, t float64) { panic("todo") }
