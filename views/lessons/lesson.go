// Package lessons holds the code shared by all lessons. Each lesson is a package below it, with its
// text in words.md and the computations of its screens in Go; package all lists them. Numbers and
// pictures come from the code that trains models; nothing that can be computed is written by hand.
package lessons

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views/figure"
)

// Lesson is a sequence of screens with one idea each. New adds its text and guide.
type Lesson struct {
	Slug    string // in URLs
	Title   string // from words.md
	Summary string // from words.md: one or two sentences for the list
	Puzzle  string // from words.md: the lesson's question about the moons, the running example
	Part    string // of the road that the lesson is on
	Screens []Screen
	Task    string // lab query for submissions of a course: data on which the defaults can be improved
	Guide   Guide  // from the guide
	Carry   bool   // controls with the same name keep their value from screen to screen

	wrong error // errors found by New
}

// Screen is one idea: text, a live picture if there is something to see, questions if
// there is something to predict.
type Screen struct {
	Slug      string                 // in URLs; unique within the lesson
	Title     string                 // from words.md
	Covers    []string               // from words.md: ids of the covered sections of Documents
	Words     func() templ.Component // from words.md: what and why, with formulas
	Lead      func() templ.Component // from words.md: the first sentence, with its formula, for slides
	After     func() templ.Component // from words.md: what would give answers away; nil: nothing
	Questions []Question             // from words.md, with the answers computed by Answers and Sketches
	Demo      *Demo
	Answers   map[string]Answer  // of its questions by slug
	Sketches  map[string]*Sketch // of the questions that are answered by a drawing
}

// Answer computes the right answer to a question: the index of an option, or the number.
type Answer func(ctx context.Context) float64

// Is returns the answer v.
func Is(v float64) Answer {
	return func(context.Context) float64 { return v }
}

// Screen returns the screen with a slug and its index, or nil.
func (l *Lesson) Screen(slug string) (*Screen, int) {
	if i := slices.IndexFunc(l.Screens, func(s Screen) bool { return s.Slug == slug }); i >= 0 {
		return &l.Screens[i], i
	}
	return nil, 0
}

// Question returns the question with a slug, or nil.
func (s *Screen) Question(slug string) *Question {
	if i := slices.IndexFunc(s.Questions, func(q Question) bool { return q.Slug == slug }); i >= 0 {
		return &s.Questions[i]
	}
	return nil
}

// Demo is the live part of a screen: its controls, and what is computed from their
// values.
type Demo struct {
	Controls []Control
	// Show computes the exhibit. It depends only on its input, so that a page and its
	// pictures agree, and takes well below half a second.
	Show func(ctx context.Context, in Input) (*Exhibit, error)
}

// NewDemo returns the demo of an exhibit and its controls, in the order of the form. Demo.Show and
// Figure.Draw return the errors with which Must and Check end show and its figures.
func NewDemo(show func(ctx context.Context, in Input) *Exhibit, controls ...Control) *Demo {
	return &Demo{Controls: controls, Show: func(ctx context.Context, in Input) (*Exhibit, error) {
		return Caught(func() *Exhibit {
			e := show(ctx, in)
			for i, f := range e.Figures {
				e.Figures[i].Draw = func(l Look) (*figure.Picture, error) {
					return Caught(func() *figure.Picture { return Must(f.Draw(l)) })
				}
			}
			return e
		})
	}}
}

// Params returns the fields of all controls, in the order of the form.
func (d *Demo) Params() []param.Param {
	return slices.Concat(lists.Map(d.Controls, Control.Params)...)
}

// IsData reports whether a field belongs to a DataControl.
func IsData(p param.Param) bool { return p.Name == dataName }

// IsRun reports whether a field belongs to a RunControl.
func IsRun(p param.Param) bool { return p.Name == runName }

const (
	dataName = "data"
	runName  = "run"
	stepName = "step"
)

// Source gives access to a workspace.
type Source interface {
	Data(ctx context.Context, id string) (name string, d *dataset.Data, err error)
	Run(ctx context.Context, id string) (*Run, error)
}

// Run is a finished training of the workspace.
type Run struct {
	Name   string
	Spec   ml.Spec
	Data   *dataset.Data
	Report *ml.Report
	Model  *ml.Model
}

// Input holds the values of a demo's controls, already checked against
// their declarations.
type Input struct {
	Step   int  // of the replay, from 0; may be beyond its end
	Coarse bool // while something is being dragged

	// Unlisted, if not nil, is called with the name of a control that is read although its
	// demo does not list it; such a control has its default.
	Unlisted func(name string)

	values map[string]string
	source Source
}

// NewInput reads the value of every control from get, using defaults for missing and
// invalid ones, and returns the problems.
func (d *Demo) NewInput(get func(name string) string, source Source) (Input, param.Problems) {
	in := Input{values: map[string]string{}, source: source}
	var wrong param.Problems
	for _, p := range d.Params() {
		v := p.Typed(get(p.Name))
		if v == "" {
			v = p.Default
		} else if err := p.Labelled().Check(v); err != nil {
			wrong.Note(p.Name, err)
			v = p.Default
		}
		in.values[p.Name] = v
	}
	if n, err := strconv.Atoi(get(stepName)); err == nil {
		in.Step = max(0, n)
	}
	return in, wrong
}

// Key returns a cache key of everything Show depends on, except the Source's content for the ids of
// the data and the run, which are empty if there are none.
func (in Input) Key() (key, data, run string) {
	return fmt.Sprint(in.Step, in.Coarse, in.values), in.values[dataName], in.values[runName] // maps print in the order of their keys
}

// Exhibit holds the content of a demo. Texts may contain formulas between dollar signs.
type Exhibit struct {
	Figures []Figure // the first is large
	Numbers []Number
	Tables  []Table
	Notes   []string // what happened and what to look at
	After   []string // notes that give the answers away
	Asks    []string // notes shown only while answers are awaited
	Body    *Derived // a derivation; nil: none
	Rules   bool     // Body has rules for many steps rather than a line per step
	Steps   int      // number of states of a replay; Input.Step counts them from 0
	Step    int      // the state that is shown
	Handles []Handle // draggable handles on the first figure
	Moves   []Move   // possible next moves in a game
	Bets    []Move   // moves offered only while answers are awaited
	Lab     string   // query of the lab for "Open in lab"; empty: no such link
}

// Derive makes the exhibit a replay of a derivation, with a step for each line.
func (e *Exhibit) Derive(in Input, lines []Line) *Exhibit {
	e.Steps, e.Step = len(lines), min(in.Step, len(lines)-1)
	e.Body = Derivation(e.Step, lines...)
	return e
}

// Asking returns the exhibit as shown while answers are awaited: without what would give them away,
// with what asks for them. The exhibit itself is not modified.
func (e Exhibit) Asking() Exhibit {
	e.Figures = slices.Clone(e.Figures)
	for i := range e.Figures {
		if f := &e.Figures[i]; f.Asks != "" {
			f.Caption = f.Asks
		}
	}
	e.Figures = slices.DeleteFunc(e.Figures, func(f Figure) bool { return f.After })
	e.Numbers = slices.DeleteFunc(slices.Clone(e.Numbers), func(n Number) bool { return n.After })
	e.Tables = slices.DeleteFunc(slices.Clone(e.Tables), func(t Table) bool { return t.After })
	e.Notes, e.Moves = slices.Concat(e.Notes, e.Asks), slices.Concat(e.Moves, e.Bets)
	e.After, e.Asks, e.Bets = nil, nil, nil
	return e
}

// Look holds the requested appearance of a figure.
type Look struct {
	Dark          bool
	Grey          bool          // for paper, as in figure.Format
	Coarse        bool          // while something is being dragged: less detail
	Asking        bool          // hide the answers; for figures with text about it in Asks
	Paper         bool          // for print: no calls to answer or step, and figures that Grow are complete unless Asking
	Width, Height int           // CSS pixels
	Panel         *figure.Panel // of a figure within another one

	ctx context.Context // see Within
}

// Within returns the look for a drawing that ends with ctx. Cache keys are made from the original
// look.
func (l Look) Within(ctx context.Context) Look {
	l.ctx = ctx
	return l
}

// Context returns the context with which the drawing ends, for figures that compute a machine at
// many points.
func (l Look) Context() context.Context { return cmp.Or(l.ctx, context.Background()) }

// Figure is one picture of an exhibit.
type Figure struct {
	Name    string // unique in the exhibit; used in URLs, where "first" is reserved for the first figure
	Caption string // what it shows and what to look for; may contain formulas
	Wide    bool   // twice as wide as high
	Asks    string // the caption while answers are awaited, if parts of the picture give them away; empty: none do
	After   bool   // the whole figure gives the answers away; not for the first
	Grows   bool   // its curves grow with the steps of a replay and are empty before the first
	Turns   bool   // dragging rotates it; its demo has a TurnControl
	Draw    func(Look) (*figure.Picture, error)
}

// Instead returns the figure replaced, while answers are awaited, by another one with a caption that
// asks.
func (f Figure) Instead(other Figure, asks string) Figure {
	whole := f.Draw
	f.Asks = asks
	f.Draw = func(l Look) (*figure.Picture, error) {
		if l.Asking {
			return other.Draw(l)
		}
		return whole(l)
	}
	return f
}

// Afterwards returns the figure marked as giving the answers away.
func (f Figure) Afterwards() Figure {
	f.After = true
	return f
}

// Number is a named value. Label and Help may contain formulas.
type Number struct {
	Label, Value, Help string
	After              bool // it gives the answers away
}

// Table is a small table of numbers. Head, cells and caption may contain formulas.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Marked  []int // rows that the step touched
	After   bool  // it gives the answers away
}

// Handle is a draggable place on the first figure that sets one or two controls, which should be
// Folded. The ranges of their sliders limit it.
type Handle struct {
	Label              string
	X, Y               float64       // data coordinates
	Down               float64       // offset of the drawn handle from Y, so that it hides nothing
	XControl, YControl NumberControl // set by the handle; a coordinate whose control has no name is fixed
}

// Moves returns the names of the controls that the handle moves, empty if none.
func (h Handle) Moves() (x, y string) {
	return h.XControl.Name, h.YControl.Name
}

// MarshalJSON writes the handle as the page's script reads it.
func (h Handle) MarshalJSON() ([]byte, error) {
	x, y := h.Moves()
	return json.Marshal(struct {
		Label  string  `json:"label"`
		X      float64 `json:"x"`
		Y      float64 `json:"y"`
		Down   float64 `json:"down,omitempty"`
		XParam string  `json:"x_param"`
		YParam string  `json:"y_param"`
	}{h.Label, h.X, h.Y, h.Down, x, y})
}

// Move is a button that changes a control, which should be Folded: a move in a game whose state is
// in the URL.
type Move struct {
	Label, Value string
	Control      TextControl
}

// Question asks for a prediction before the answer is revealed. Texts may contain formulas between
// dollar signs.
type Question struct {
	Slug    string // in URLs; unique within the screen
	Ask     string
	Options []string // options; nil: the answer is a number
	Wrong   []string // the misconception behind each option; empty for the right one
	Sketch  *Sketch  // the answer is drawn
	Words   *Words   // the answer is words
	Point   *Point   // the answer is a point on a picture
	Answer  Answer
	// Within is the tolerance of a number as a fraction of the right one (of 1 if that is smaller);
	// 0 means 1 %. The mean error of a sketch may be this fraction of the height of its picture; 0
	// means 10 %.
	Within  float64
	Explain string // why, shown with the answer; %s is replaced by the right answer
	// Before is the slug of the derivation line that gives the answer away: the question is
	// asked before it. Empty: none.
	Before string
}

// Truth holds the right answer: the index of an option or a number, or a curve.
type Truth struct {
	Value float64
	Curve figure.Curve
}

// Solve computes the right answer.
func (q *Question) Solve(ctx context.Context) (t Truth, err error) {
	if q.Sketch != nil {
		t.Curve, err = Caught(func() figure.Curve { return q.Sketch.Truth(ctx) })
		t.Curve.Name = "computed"
		return t, err
	}
	if q.Answer == nil { // of words or a point
		return t, nil
	}
	t.Value, err = Caught(func() float64 { return q.Answer(ctx) })
	return t, err
}

// Judge reports whether given, the index of an option, a number or the heights of a sketch,
// is right, and returns the right answer; truth is the result of Solve. It returns
// param.Problems for text that is none of them.
func (q *Question) Judge(truth Truth, given string) (right bool, answer string, err error) {
	if q.Sketch != nil {
		right, err = q.Sketch.judge(q, truth.Curve, given)
		return right, q.Sketch.display(truth.Curve), err
	}
	switch {
	case q.Words != nil:
		right, err = q.Words.judge(q, given)
		return right, q.Words.display(), err
	case q.Point != nil:
		right, err = q.Point.judge(q, given)
		return right, q.Point.display(), err
	case len(q.Options) > 0:
		k := int(truth.Value)
		if k < 0 || k >= len(q.Options) || float64(k) != truth.Value {
			return false, "", fmt.Errorf("question %s: the answer %g is none of its %d options", q.Slug, truth.Value, len(q.Options))
		}
		g, err := strconv.Atoi(given)
		if err != nil || g < 0 || g >= len(q.Options) {
			return false, "", param.Problems{{Field: q.Slug, Message: "Choose one of the answers first."}}
		}
		return g == k, q.Options[k], nil
	}
	g, err := ReadNumber(given)
	if err != nil {
		return false, "", param.Problems{{Field: q.Slug, Message: "Give a number, such as 0.25, 1/4 or -3e-2."}}
	}
	return math.Abs(g-truth.Value) <= q.Tolerance(truth.Value), param.Digits(truth.Value, 4), nil
}

// Order returns the display order of the options by index: shuffled by seed, so that positions
// reveal nothing. Options that refer to the others, such as "Neither.", stay at the end.
func (q *Question) Order(seed string) []int {
	order := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed + "/" + q.Slug)))).Perm(len(q.Options))
	last := func(i int) int { return lists.CountTrue(ofOthers().MatchString(q.Options[i])) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last(i), last(j)) })
	return order
}

// ofOthers matches the beginning of an option that refers to the others.
var ofOthers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Both|Neither|None|All)\b`) })

// Mistaken returns the misconception behind a wrong answer, empty if unknown.
func (q *Question) Mistaken(given string) string {
	if k, err := strconv.Atoi(given); err == nil && k >= 0 && k < len(q.Wrong) {
		return q.Wrong[k]
	}
	return ""
}

// Given returns the right answer in the form of a given answer.
func (q *Question) Given(truth Truth) string {
	switch {
	case q.Sketch != nil:
		return q.Sketch.given(truth.Curve)
	case len(q.Options) > 0:
		return strconv.Itoa(int(truth.Value))
	case q.Words != nil:
		return q.Words.Right[0]
	case q.Point != nil:
		return q.Point.kept(q.Point.X, q.Point.Y)
	}
	return param.Rounded(truth.Value, 4)
}

// Reveal returns the right answer with the reason, a Text; truth is the result of Solve.
func (q *Question) Reveal(truth Truth) (string, error) {
	_, answer, err := q.Judge(truth, q.Given(truth))
	if err != nil {
		return "", err
	}
	why := strings.ReplaceAll(q.Explain, "%s", answer)
	switch {
	case strings.HasPrefix(q.Explain, "%s"):
		return why, nil
	case strings.HasSuffix(answer, "."):
		return answer + " " + why, nil
	}
	return answer + ". " + why, nil
}
