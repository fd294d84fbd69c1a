package lessons

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/param"
	"marginlab/views/figure"
)

// Asked holds a question with its place and its right answer.
type Asked struct {
	Lesson   *Lesson
	Screen   *Screen
	Question *Question
	Truth    Truth // of the question
}

// Name returns the full name of the question: lesson/screen/question.
func (a Asked) Name() string { return a.Lesson.Slug + "/" + a.Screen.Slug + "/" + a.Question.Slug }

// Judge reports whether an answer is right, and returns its stored form, which is equal for
// equivalent answers. It returns param.Problems for text that is not an answer.
func (a Asked) Judge(given string) (kept string, right bool, err error) {
	right, _, err = a.Question.Judge(a.Truth, given)
	if err != nil {
		return "", false, err
	}
	switch q := a.Question; {
	case q.Sketch != nil:
		heights, err := q.Sketch.Read(given)
		return q.Sketch.kept(heights), right, err
	case len(q.Options) > 0:
		k, err := strconv.Atoi(given)
		return strconv.Itoa(k), right, err
	case q.Words != nil:
		return tidy(given), right, nil
	case q.Point != nil:
		x, y, err := q.Point.Read(given)
		return q.Point.kept(x, y), right, err
	}
	v, err := ReadNumber(given)
	return strconv.FormatFloat(v, 'g', 6, 64), right, err
}

// Right returns the right answer for display; it may contain formulas.
func (a Asked) Right() string {
	if s := a.Question.Sketch; s != nil {
		return s.display(a.Truth.Curve)
	}
	if w := a.Question.Words; w != nil {
		return w.display()
	}
	if p := a.Question.Point; p != nil {
		return p.display()
	}
	if k := int(a.Truth.Value); k >= 0 && k < len(a.Question.Options) {
		return a.Question.Options[k]
	}
	return param.Digits(a.Truth.Value, 4)
}

// Why returns the explanation; it may contain formulas.
func (a Asked) Why() string { return strings.ReplaceAll(a.Question.Explain, "%s", a.Right()) }

// Label returns a stored answer for display; it may contain formulas.
func (a Asked) Label(kept string) string {
	if s := a.Question.Sketch; s != nil {
		if heights, err := s.Read(kept); err == nil {
			return s.Off(a.Truth.Curve, heights)
		}
		return kept
	}
	if a.Question.Words != nil {
		return Literal(kept)
	}
	if p := a.Question.Point; p != nil {
		x, y, err := p.Read(kept)
		if err != nil {
			return kept
		}
		return "(" + param.Digits(x, 3) + ", " + param.Digits(y, 3) + ")"
	}
	if len(a.Question.Options) == 0 {
		if v, err := ReadNumber(kept); err == nil {
			return param.Digits(v, 4)
		}
		return kept
	}
	if k, err := strconv.Atoi(kept); err == nil && k >= 0 && k < len(a.Question.Options) {
		return a.Question.Options[k]
	}
	return "an answer that no longer exists"
}

// Brief returns a stored answer in short: an option by its letter, a drawing in words.
func (a Asked) Brief(kept string) string {
	if s := a.Question.Sketch; s != nil {
		if drawn := s.Curve(kept); drawn != nil {
			return s.display(*drawn)
		}
		return kept
	}
	if k, err := strconv.Atoi(kept); err == nil && k >= 0 && k < len(a.Question.Options) {
		return Letter(slices.Index(a.Order(), k))
	}
	return a.Label(kept)
}

// Often returns the most frequent answer for display and its count, given the counts of all
// answers. Drawings are never equal, so their median represents them. It is empty if no answer was
// given twice.
func (a Asked) Often(counts map[string]int) (label string, n int) {
	if s := a.Question.Sketch; s != nil {
		n = sum(slices.Collect(maps.Values(counts)))
		if curves := s.crowd(counts); n > 1 && curves != nil {
			return "the median drawing: " + s.display(curves[0]), n
		}
		return "", 0
	}
	most := ""
	for text, k := range counts {
		if k > counts[most] || k == counts[most] && text < most {
			most = text
		}
	}
	if n = counts[most]; n > 1 && a.Question.Point == nil {
		return a.Label(most), n
	}
	return "", 0
}

// Order returns the order in which a class sees the options, the same on the slide, phones,
// histogram and paper, so that letters agree.
func (a Asked) Order() []int {
	return a.Question.Order(a.Lesson.Slug + "/" + a.Screen.Slug)
}

// Letter returns the letter of an option in a poll: A, B, C.
func Letter(option int) string { return string(rune('A' + option)) }

// Histogram holds the number of times each answer was given, round by round.
type Histogram struct {
	Rows   []HistogramRow
	Totals []int // by round
}

// HistogramRow is one answer.
type HistogramRow struct {
	Letter string // of an option; empty for a number
	Label  string // may hold formulas
	Counts []int  // by round
	Right  bool   // if revealed
	Why    string // the misconception behind it, if revealed; may contain formulas
}

// mostNumbers is the maximum number of distinct answers in a histogram.
const mostNumbers = 10

// Histogram returns the histogram of answers, given the counts of each round. Options are in order.
// Of numbers it shows the most frequent, in ascending order, and the rest as one row.
func (a Asked) Histogram(rounds []map[string]int, revealed bool) Histogram {
	switch {
	case len(a.Question.Options) > 0:
		return a.chosen(rounds, revealed)
	case a.Question.Sketch != nil || a.Question.Point != nil:
		return a.drawn(rounds, revealed)
	}
	return a.written(rounds, revealed)
}

// add counts n answers of a round in a row.
func (h *Histogram) add(row *HistogramRow, round, n int) {
	row.Counts[round] += n
	h.Totals[round] += n
}

// chosen counts the answers to a question with options.
func (a Asked) chosen(rounds []map[string]int, revealed bool) Histogram {
	h := Histogram{Totals: make([]int, len(rounds)), Rows: make([]HistogramRow, len(a.Question.Options))}
	row := make([]*HistogramRow, len(h.Rows)) // by option
	for i, k := range a.Order() {
		h.Rows[i] = HistogramRow{Letter: Letter(i), Label: a.Question.Options[k], Counts: make([]int, len(rounds)), Right: revealed && float64(k) == a.Truth.Value}
		if revealed {
			h.Rows[i].Why = a.Question.Mistaken(strconv.Itoa(k))
		}
		row[k] = &h.Rows[i]
	}
	for round, counts := range rounds {
		for given, n := range counts {
			if k, err := strconv.Atoi(given); err == nil && k >= 0 && k < len(h.Rows) {
				h.add(row[k], round, n)
			}
		}
	}
	return h
}

// written counts answers in numbers or words.
func (a Asked) written(rounds []map[string]int, revealed bool) Histogram {
	type place struct {
		label string
		right bool
	}
	h := Histogram{Totals: make([]int, len(rounds))}
	size, at := map[place]float64{}, map[place]*HistogramRow{}
	for round, counts := range rounds {
		for given, n := range counts {
			right, _, wrong := a.Question.Judge(a.Truth, given)
			if wrong != nil {
				continue
			}
			p, v := place{Literal(same(given)), right && revealed}, 0.0
			if a.Question.Words == nil {
				v, _ = ReadNumber(given)
				p.label = param.Digits(v, 4)
			}
			if at[p] == nil {
				at[p], size[p] = &HistogramRow{Label: p.label, Counts: make([]int, len(rounds)), Right: p.right}, v
			}
			h.add(at[p], round, n)
		}
	}
	bySize := func(p, q place) int { return cmp.Or(cmp.Compare(size[p], size[q]), cmp.Compare(p.label, q.label)) }
	places := slices.SortedFunc(maps.Keys(at), func(p, q place) int { return cmp.Or(cmp.Compare(sum(at[q].Counts), sum(at[p].Counts)), bySize(p, q)) })
	var rest []place
	if len(places) > mostNumbers {
		places, rest = places[:mostNumbers], places[mostNumbers:]
	}
	if a.Question.Words == nil { // answers in words stay in order of frequency
		slices.SortFunc(places, bySize)
	}
	for _, p := range places {
		h.Rows = append(h.Rows, *at[p])
	}
	if len(rest) > 0 {
		others := HistogramRow{Label: fmt.Sprintf("%d other answers", len(rest)), Counts: make([]int, len(rounds))}
		for _, p := range rest {
			for round, n := range at[p].Counts {
				others.Counts[round] += n
			}
		}
		h.Rows = append(h.Rows, others)
	}
	return h
}

// drawn counts the sketches or points that are near enough and those that are not. The rows are
// empty until the answer is revealed.
func (a Asked) drawn(rounds []map[string]int, revealed bool) (h Histogram) {
	h.Totals = make([]int, len(rounds))
	near := HistogramRow{Label: "near enough", Counts: make([]int, len(rounds)), Right: true}
	far := HistogramRow{Label: "farther off", Counts: make([]int, len(rounds))}
	for round, counts := range rounds {
		for given, n := range counts {
			right, _, err := a.Question.Judge(a.Truth, given)
			if err != nil {
				continue
			}
			row := &far
			if right {
				row = &near
			}
			row.Counts[round] += n
			h.Totals[round] += n
		}
	}
	if revealed {
		h.Rows = []HistogramRow{near, far}
	}
	return h
}

// Overlay returns the picture of a class's sketches in a round, with the right answer once it
// is revealed.
func (a Asked) Overlay(l Look, counts map[string]int, revealed bool) (*figure.Picture, error) {
	curves := a.Question.Sketch.crowd(counts)
	if revealed {
		curves = slices.Insert(curves, min(1, len(curves)), a.Truth.Curve)
	}
	return a.Question.Sketch.Draw(l, curves)
}

func sum(counts []int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}
