package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Plan describes a cross-validation to compute: every path is trained and evaluated on every
// split.
type Plan struct {
	Data   string `json:"data"`             // dataset.Data.Hash
	Format int    `json:"format,omitempty"` // version of its cells; 0 means 1

	// Score names the ranking score; empty in older plans, meaning accuracy or mse. Classes
	// are the classes of the machines, empty for a regression and in older plans.
	Score   string   `json:"score,omitempty"`
	Classes []string `json:"classes,omitempty"`

	// Searched names the parameters that a Setting shows, if they apply to some path: C, gamma,
	// and those of the design in the order of ml.Params.
	Searched []string `json:"searched"`
	Paths    []Path   `json:"paths"`

	// Splits holds the splits repeat by repeat. For a nested selection, Inner holds the splits
	// of each training set.
	Splits []Split   `json:"splits"`
	Inner  [][]Split `json:"inner,omitempty"`

	// Own holds, if a nested selection refines an earlier one, the settings of each of the
	// Splits, from which its inner splits select instead of Paths; see Scheme.Onward.
	Own []Own `json:"own,omitempty"`

	// Learning holds the fractions of a learning curve: Splits then has the splits of all folds
	// for the first fraction, then for the second, and so on. nil: no learning curve.
	Learning []float64 `json:"shares,omitempty"`
}

// Path groups settings that differ only in C. They are trained together, warm-started if the
// learner supports it.
type Path struct {
	Spec ml.Spec   `json:"spec"`        // with the smallest C
	C    []float64 `json:"C,omitempty"` // ascending; empty if C does not apply
}

// Own holds the paths to try within the training set of one split or, if its selection is final,
// the selected values and their result.
type Own struct {
	Searched []string     `json:"searched,omitempty"` // as in Plan
	Paths    []Path       `json:"paths,omitempty"`
	Values   param.Values `json:"values,omitempty"`
	Fold     *Fold        `json:"fold,omitempty"` // result with these values on the test set
}

// NewPlan returns the plan of CrossValidate. It returns the errors of CrossValidate that need no
// training.
func NewPlan(d *dataset.Data, spec ml.Spec, design Design, scheme Scheme) (*Plan, error) {
	if design == nil {
		design = Grid{}
	}
	if err := scheme.check(d.Len()); err != nil {
		return nil, err
	}
	var groups []int
	if scheme.Column != "" {
		var err error
		if groups, err = scheme.groups(d); err != nil {
			return nil, err
		}
		if spec = scheme.Settled(d, spec); len(spec.Features) == 0 {
			return nil, param.Problems{{Field: "fold_column", Message: fmt.Sprintf("fold_column: without %q no feature is left to train on", scheme.Column)}}
		}
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	paths, err := design.Paths(spec)
	if err != nil {
		return nil, err
	}
	if err := checkEach(d, spec, paths); err != nil {
		return nil, err
	}
	target, err := ml.TargetOf(d, spec)
	if err != nil {
		return nil, err
	}
	// Parameters without effect here must not distinguish cells.
	for _, name := range []string{"label", "test_fraction", "seed"} {
		p, _ := ml.Param(name)
		if err := spec.Set(name, p.Default); err != nil {
			return nil, err
		}
	}
	score, err := ranking(scheme.Score, spec, target)
	if err != nil {
		return nil, err
	}
	p := &Plan{Data: d.Hash(), Format: cellFormat, Score: score.Name, Classes: target.Classes}
	if p.Paths, err = design.Paths(spec); err != nil { // without parameters that have no effect
		return nil, err
	}
	p.Searched = searched(design, p.Paths)
	number := make([]int, len(target.Classes)) // rows of each class
	for _, c := range target.Class {
		number[c]++
	}
	for c, n := range number { // here, as makeSplits cannot name the class
		if n < scheme.Folds && !scheme.LeaveOneOut && scheme.HoldOut == 0 && groups == nil {
			return nil, param.Refuse("use fewer folds, or add points of this class", "%d folds: each needs a point of every class, but class %s has only %d", scheme.Folds, target.Classes[c], n)
		}
	}
	y := target.Strata()
	if p.Splits, p.Inner, err = makeSplits(y, scheme, groups); err != nil {
		return nil, err
	}
	if p.Learning = scheme.Learning; len(p.Learning) > 0 {
		if len(p.Paths) != 1 || p.Paths[0].Settings() != 1 {
			return nil, param.Problems{{Field: "shares", Message: "shares: a learning curve has a single setting; use one value for each parameter"}}
		}
		p.Splits = learningSplits(p.Splits, p.Learning, y, scheme.Seed)
	}
	if scheme.Nested && scheme.Onward != nil {
		if p.Own, err = scheme.own(d, spec, len(p.Splits)); err != nil {
			return nil, err
		}
	}
	return p, checkSplits(p.all(), y, target.Classes, score)
}

// searched returns the parameters that a Setting of the design shows.
func searched(design Design, paths []Path) []string {
	names := []string{"C", "gamma"}
	for _, name := range design.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(paths, func(path Path) bool { return path.Spec.Applies(name) })
	})
}

// checkEach calls ml.Check for every combination of learner, kernel and conformal map in paths, with
// the label column of spec.
func checkEach(d *dataset.Data, spec ml.Spec, paths []Path) error {
	checked := map[[3]string]bool{}
	for _, p := range paths {
		s := p.Spec
		kind := [3]string{s.Learner, s.Kernel, s.Conformal}
		if checked[kind] {
			continue
		}
		checked[kind] = true
		s.Label = spec.Label
		if err := ml.Check(d, s); err != nil {
			return err
		}
	}
	return nil
}

// Settings returns the number of settings of the path.
func (p Path) Settings() int { return max(1, len(p.C)) }

// Trainings returns the number of trainings: settings times splits.
func (p *Plan) Trainings() (n int) {
	for path := range p.order() {
		n += path.Settings()
	}
	return n
}

// all returns the splits of the plan, inner ones last.
func (p *Plan) all() []Split { return slices.Concat(p.Splits, slices.Concat(p.Inner...)) }

// Cells returns the cells of the plan: first the cells of its splits, path by path, then the cells of
// the inner splits, so that settings are evaluated before their selection.
func (p *Plan) Cells() []Cell {
	var cells []Cell
	splits := p.all()
	for path, split := range p.order() {
		cells = append(cells, Cell{p.Data, *path, splits[split], p.Format})
	}
	return cells
}

// order iterates over the cells: a path and the index of a split. Splits with settings of their
// own follow one another, and a setting also among Paths is evaluated only once on the test set.
func (p *Plan) order() iter.Seq2[*Path, int] {
	return func(yield func(path *Path, split int) bool) {
		outer, all := len(p.Splits), len(p.all())
		block := func(paths []Path, from, to int) bool {
			for i := range paths {
				for split := from; split < to; split++ {
					if !yield(&paths[i], split) {
						return false
					}
				}
			}
			return true
		}
		if !block(p.Paths, 0, outer) {
			return
		}
		if p.Own == nil {
			block(p.Paths, outer, all)
			return
		}
		from := outer
		for i, own := range p.Own {
			fresh := slices.DeleteFunc(slices.Clone(own.Paths), func(path Path) bool {
				return slices.ContainsFunc(p.Paths, func(known Path) bool { return reflect.DeepEqual(path, known) })
			})
			to := from + len(p.Inner[i])
			if !block(fresh, i, i+1) || !block(own.Paths, from, to) {
				return
			}
			from = to
		}
	}
}

// part returns the plan of one split with settings of its own and of its inner splits.
func (p *Plan) part(i int) *Plan {
	one := *p
	one.Searched, one.Paths, one.Own = p.Own[i].Searched, p.Own[i].Paths, nil
	one.Splits, one.Inner = p.Splits[i:i+1], p.Inner[i:i+1]
	return &one
}

// Names returns the names of the cells, in their order.
func (p *Plan) Names() (names []string, err error) {
	splits, err := marshalEach(p.all())
	if err != nil {
		return nil, err
	}
	var text []byte // JSON of the path of
	var of *Path
	for path, split := range p.order() {
		if path != of {
			of = path
			if text, err = json.Marshal(path); err != nil {
				return nil, err
			}
		}
		names = append(names, cellName(p.Format, p.Data, text, splits[split]))
	}
	return names, nil
}

// marshalEach returns the JSON of every value.
func marshalEach[T any](values []T) (list [][]byte, err error) {
	list = make([][]byte, len(values))
	for i, v := range values {
		if list[i], err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Reduce combines the results of the cells, in any order and from any process. It ignores duplicates
// and results of other cells. It returns an error if a cell has no result or two different ones:
// processes of the same version on the same kind of machine agree exactly.
func (p *Plan) Reduce(results []CellResult) (*Result, error) {
	if len(p.Paths) == 0 || len(p.Splits) < 2 || len(p.Inner) > 0 && len(p.Inner) != len(p.Splits) || p.Own != nil && len(p.Own) != len(p.Inner) {
		return nil, errors.New("a plan needs a path and two splits, and inner splits and settings of their own for all of them or none")
	}
	if p.Own != nil {
		return p.reduceOwn(results)
	}
	folds, err := p.whole(results)
	if err != nil {
		return nil, err
	}
	if len(p.Learning) > 0 {
		return p.learningResult(folds[0])
	}
	res, err := p.result(folds)
	if err != nil || len(p.Inner) == 0 {
		return res, err
	}
	chosen, err := p.chosen(folds)
	if err != nil {
		return nil, err
	}
	res.nest(chosen)
	return res, nil
}

// reduceOwn is Reduce for splits with settings of their own.
func (p *Plan) reduceOwn(results []CellResult) (*Result, error) {
	outer := *p
	outer.Inner, outer.Own = nil, nil
	res, err := outer.Reduce(results)
	if err != nil {
		return nil, err
	}
	n := &Nested{Chosen: []int{}}
	for i, own := range p.Own {
		values, fold := own.Values, own.Fold
		if fold == nil {
			one := p.part(i)
			folds, err := one.whole(results)
			if err != nil {
				return nil, err
			}
			chosen, err := one.chosen(folds)
			if err != nil {
				return nil, err
			}
			values, fold = one.settings()[chosen[0]], &folds[chosen[0]][0]
		}
		n.Settings, n.Folds = append(n.Settings, values), append(n.Folds, *fold)
	}
	n.Mean, n.MeanErrors = meanOf(n.Folds)
	res.Nested = n
	return res, nil
}

// restoreOwn is Restore for a nested selection with settings of its own for each split.
func (p *Plan) restoreOwn(n *Nested) (*Nested, error) {
	if n == nil || len(n.Settings) != len(p.Splits) {
		return nil, errors.New("the settings chosen for the folds are missing")
	}
	if err := p.checkFolds(n.Folds); err != nil {
		return nil, fmt.Errorf("the nested selection %w", err)
	}
	for i, values := range n.Settings {
		known := p.part(i).settings()
		if p.Own[i].Fold != nil {
			known = []param.Values{p.Own[i].Values}
		}
		if n.Folds[i].Failure != "" || !slices.ContainsFunc(known, func(v param.Values) bool { return reflect.DeepEqual(v, values) }) {
			return nil, fmt.Errorf("the setting chosen for fold %d could not have been trained", i+1)
		}
	}
	own := &Nested{Chosen: []int{}, Settings: n.Settings, Folds: n.Folds}
	own.Mean, own.MeanErrors = meanOf(own.Folds)
	return own, nil
}

// chosen returns, for each split, the setting that its inner splits select among those that can be
// trained on its training set.
func (p *Plan) chosen(folds [][]Fold) (chosen []int, err error) {
	score := p.rankedBy()
	at := len(p.Splits) // of the inner splits
	for i, inner := range p.Inner {
		one := best(score, len(folds), func(s int) []Fold {
			if folds[s][i].Failure != "" { // not trainable on this training set; best skips it
				return folds[s][i : i+1]
			}
			return folds[s][at : at+len(inner)]
		})
		if one < 0 {
			return nil, fmt.Errorf("nested, in the training set of a fold: %w", p.noScore(score, p.completeSettings(folds)[0]))
		}
		chosen = append(chosen, one)
		at += len(inner)
	}
	return chosen, nil
}

// settings returns the values of all settings in the order of their folds.
func (p *Plan) settings() (all []param.Values) {
	for _, path := range p.Paths {
		for a := range path.Settings() {
			all = append(all, path.values(p.Searched, a))
		}
	}
	return all
}

// nest sets the nested selection.
func (r *Result) nest(chosen []int) {
	r.Nested = &Nested{Chosen: chosen}
	r.Nested.Folds = r.NestedFolds()
	r.Nested.Mean, r.Nested.MeanErrors = meanOf(r.Nested.Folds)
}

// result returns the result, without nested selection, from the folds of each setting.
func (p *Plan) result(folds [][]Fold) (*Result, error) {
	res := &Result{Searched: p.Searched, Score: p.Score, Settings: p.completeSettings(folds)}
	score := p.rankedBy()
	if res.Best = best(score, len(res.Settings), func(s int) []Fold { return res.Settings[s].Folds }); res.Best < 0 {
		return nil, p.noScore(score, res.Settings[0])
	}
	if counts := sumConfusion(res.Settings[res.Best].Folds, len(p.Classes)); counts != nil {
		res.Confusion = ml.ConfusionOf(p.Classes, counts)
	}
	return res, nil
}

// Restore recomputes a result from an untrusted source, such as a file, from the folds of its
// settings and the selection for each. It returns an error if it is not a result of the plan.
func (p *Plan) Restore(r *Result) (*Result, error) {
	if len(p.Learning) > 0 {
		folds := slices.Concat(lists.Map(r.Learning, func(step LearningStep) []Fold { return step.Folds })...)
		if err := p.checkFolds(folds); err != nil {
			return nil, fmt.Errorf("the learning curve %w", err)
		}
		return p.learningResult(folds)
	}
	var folds [][]Fold
	for k, values := range p.settings() {
		if k >= len(r.Settings) || !reflect.DeepEqual(r.Settings[k].Values, values) {
			return nil, fmt.Errorf("setting %d does not match the search", k+1)
		}
		if err := p.checkFolds(r.Settings[k].Folds); err != nil {
			return nil, fmt.Errorf("setting %d %w", k+1, err)
		}
		folds = append(folds, r.Settings[k].Folds)
	}
	if len(folds) != len(r.Settings) {
		return nil, fmt.Errorf("%d settings: expected %d", len(r.Settings), len(folds))
	}
	res, err := p.result(folds)
	if err != nil {
		return nil, err
	}
	if p.Own != nil {
		res.Nested, err = p.restoreOwn(r.Nested)
		return res, err
	}
	if len(p.Inner) > 0 {
		if r.Nested == nil || len(r.Nested.Chosen) != len(p.Splits) {
			return nil, errors.New("the settings chosen for the folds are missing")
		}
		for i, c := range r.Nested.Chosen {
			if c < 0 || c >= len(folds) || folds[c][i].Failure != "" {
				return nil, fmt.Errorf("the setting chosen for fold %d could not have been trained", i+1)
			}
		}
		res.nest(r.Nested.Chosen)
	}
	return res, nil
}

// checkFolds validates the folds of a setting from an untrusted source.
func (p *Plan) checkFolds(folds []Fold) error {
	if len(folds) != len(p.Splits) {
		return fmt.Errorf("has %d folds: expected %d", len(folds), len(p.Splits))
	}
	for _, f := range folds {
		switch {
		case f.Status == "" || !f.valid() || f.Failure == "" && (f.Errors != nil) != p.Paths[0].Spec.Regression():
			return errors.New("has a fold without exactly one of class shares, errors and a failure")
		case f.Shares != nil && !(f.Accuracy >= 0 && f.Accuracy <= 1), f.Errors != nil && !(f.MSE >= 0 && f.MSE <= LargestMSE):
			return errors.New("has a fold with an impossible accuracy or error")
		}
	}
	return nil
}

// LargestMSE is the largest mean squared error whose deviation does not overflow.
const LargestMSE = 1e150

// valid reports whether the fold has exactly one of shares, errors and a failure.
func (f Fold) valid() bool {
	return lists.CountTrue(f.Shares != nil, f.Errors != nil, f.Failure != "") == 1
}

func (p *Plan) rankedBy() Score { return RankedBy(p.Score, p.Paths[0].Spec.Regression()) }

// noScore returns the error that explains why no setting has a score.
func (p *Plan) noScore(score Score, first Setting) error {
	if why := first.Failure(); why != "" {
		return param.Refuse("try other values", "no setting can be trained on every fold: %s", why)
	}
	return param.Refuse("use another score", "no setting has a %s on every fold", score.Label)
}

// sumConfusion returns the summed confusion counts of folds, nil if one has none.
func sumConfusion(folds []Fold, classes int) [][]int {
	if classes == 0 {
		return nil
	}
	counts := lists.Make(classes, func(int) []int { return make([]int, classes) })
	for _, f := range folds {
		if f.Shares == nil || len(f.Confusion) != classes {
			return nil
		}
		for c, row := range f.Confusion {
			for p, n := range row[:min(len(row), classes)] {
				counts[c][p] += n
			}
		}
	}
	return counts
}

// Reached returns the interim result of a running plan: only the settings, or the steps of the
// learning curve, whose folds are all computed. It returns the errors of Reduce.
func (p *Plan) Reached(results []CellResult) (*Result, error) {
	outer := *p
	outer.Inner, outer.Own = nil, nil
	folds, _, err := outer.gather(results)
	if err != nil {
		return nil, err
	}
	if len(p.Learning) > 0 {
		return &Result{Learning: p.steps(folds[0])}, nil
	}
	return &Result{Settings: p.completeSettings(folds)}, nil
}

// completeSettings returns the settings with results on all outer splits.
func (p *Plan) completeSettings(folds [][]Fold) (settings []Setting) {
	at := 0
	for _, path := range p.Paths {
		for a := range path.Settings() {
			own := folds[at][:len(p.Splits)]
			if at++; slices.ContainsFunc(own, func(f Fold) bool { return f.Status == "" }) {
				continue
			}
			s := Setting{Values: path.values(p.Searched, a), Folds: slices.Clone(own)}
			s.Mean, s.MeanErrors = meanOf(own)
			settings = append(settings, s)
		}
	}
	return settings
}

// whole returns the result of each setting on each split, or an error if a cell has none.
func (p *Plan) whole(results []CellResult) ([][]Fold, error) {
	folds, missing, err := p.gather(results)
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d of %d cells have no result", missing, len(p.Paths)*len(p.all()))
	}
	return folds, err
}

// gather returns the result of each setting on each split, with an empty status if it is missing, and
// the number of missing cells.
func (p *Plan) gather(results []CellResult) (folds [][]Fold, missing int, err error) {
	found := make(map[string][]Fold, len(results))
	for _, r := range results {
		if before, twice := found[r.Cell]; twice && !reflect.DeepEqual(before, r.Folds) {
			return nil, 0, fmt.Errorf("cell %.12s has two different results: it was computed by different versions or machines", r.Cell)
		}
		found[r.Cell] = r.Folds
	}
	names, err := p.Names()
	if err != nil {
		return nil, 0, err
	}
	first := make(map[*Path]int, len(p.Paths)) // setting of each path
	for i := range p.Paths {
		path := &p.Paths[i]
		first[path] = len(folds)
		folds = append(folds, make([][]Fold, path.Settings())...)
	}
	for path := range p.order() {
		name := names[0]
		names = names[1:]
		own := folds[first[path]:][:path.Settings()]
		byC, ok := found[name]
		switch {
		case !ok:
			missing++
			byC = make([]Fold, len(own))
		case len(byC) != len(own):
			return nil, 0, fmt.Errorf("the result of cell %.12s has %d trainings: expected %d", name, len(byC), len(own))
		}
		for a, f := range byC {
			if ok && !f.valid() {
				return nil, 0, fmt.Errorf("the result of cell %.12s does not have exactly one of class shares, errors and a failure", name)
			}
			own[a] = append(own[a], f)
		}
	}
	return folds, missing, nil
}

// values returns the applicable parameters among names at the path's a-th C.
func (p Path) values(names []string, a int) param.Values {
	values := make(param.Values)
	for _, name := range names {
		switch {
		case name == "C" && len(p.C) > 0:
			values[name] = param.Of(p.C[a])
		case name != "C" && p.Spec.Applies(name):
			values[name] = p.Spec.Value(name)
		}
	}
	return values
}
