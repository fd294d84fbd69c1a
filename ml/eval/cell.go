package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Cell is a path on one split: the smallest work that is handed out.
type Cell struct {
	Data   string `json:"data"` // hash of the data it is about
	Path   Path   `json:"path"`
	Split  Split  `json:"split"`
	Format int    `json:"format,omitempty"` // of the plan
}

// cellFormat is the format of new plans. It begins what a name is the hash of, and rises when the
// same cell is to give another result. Plans of 1, which had no number, were made before
// there were other scores than accuracies and errors; before 3 an MCM began anew at every C.
const cellFormat = 3

// Name is the SHA-256 of what the cell says, in hexadecimal: cells that are to give the
// same have the same name, in every process.
func (c Cell) Name() (string, error) {
	path, err := json.Marshal(c.Path)
	if err != nil {
		return "", err
	}
	split, err := json.Marshal(c.Split)
	if err != nil {
		return "", err
	}
	return cellName(c.Format, c.Data, path, split), nil
}

// cellName is the name of a cell by its data and the JSON texts of path and split.
func cellName(format int, data string, path, split []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "cell %d\n%s\n%s\n%s\n", max(1, format), data, path, split))
	return hex.EncodeToString(sum[:])
}

// failed is the status of a Fold with a Failure.
const failed trace.Status = "failed"

// CellResult holds the result of a cell.
type CellResult struct {
	Cell  string `json:"cell"`  // its name
	Folds []Fold `json:"folds"` // one for each C

	// Seconds is how long it took, by the clock of a machine that may have been busy; 0
	// where that is not known.
	Seconds float64 `json:"seconds,omitempty"`
}

// Worker computes cells of one data set, several at a time if asked to. It keeps what
// cells of one path share, the kernel matrix, until it meets another path; that saves
// time and changes no result.
type Worker struct {
	data       *dataset.Data
	hash       string
	cacheBytes int64

	mu      sync.Mutex
	spec    ml.Spec // that trainer has
	trainer *ml.Trainer
}

// NewWorker makes a worker. cacheBytes limits the kernel cache of each cell, as in ml.Spec; workers that
// share a plan have the same, as the last bits of a result depend on it when the matrix
// is larger.
func NewWorker(d *dataset.Data, cacheBytes int64) *Worker {
	return &Worker{data: d, hash: d.Hash(), cacheBytes: cacheBytes}
}

// Compute trains and judges. The result, but for the time, depends on the cell, its data and
// the memory alone. A training of which nothing came for a reason that a person can read is a Fold
// with this Failure. Errors are others of ml.Train, that of ctx when it ends, and what makes
// the cell none of these data.
func (w *Worker) Compute(ctx context.Context, c Cell) (CellResult, error) {
	if err := ctx.Err(); err != nil {
		return CellResult{}, err
	}
	name, err := c.Name()
	if err != nil {
		return CellResult{}, err
	}
	if err := w.check(c); err != nil {
		return CellResult{}, fmt.Errorf("cell %.12s: %w", name, err)
	}
	start := time.Now()
	t, err := w.prepare(c.Path.Spec)
	if err != nil {
		return CellResult{}, err
	}
	cs := c.Path.C
	if len(cs) == 0 {
		cs = []float64{1} // means nothing
	}
	judged, err := t.Judge(ctx, c.Split.Train, c.Split.Test, cs)
	if err != nil {
		return CellResult{}, err
	}
	res := CellResult{Cell: name, Seconds: time.Since(start).Seconds()}
	for _, j := range judged {
		f := Fold{Status: j.Status, SupportVectors: j.SupportVectors}
		switch {
		case j.Fault != nil:
			f.Failure, _ = param.ForPerson(j.Fault)
			f.Status = failed
		case j.Errors != nil:
			f.Errors = &Errors{*j.Errors, j.TrainErrors.MSE}
		default:
			f.Shares = &Shares{j.Accuracy, j.TrainAccuracy, j.Confusion, j.AUC, j.LogLoss, j.Brier}
		}
		res.Folds = append(res.Folds, f)
	}
	return res, nil
}

// check tells why a cell, which may come from anywhere, cannot be computed.
func (w *Worker) check(c Cell) error {
	if c.Data != w.hash {
		return fmt.Errorf("it is about the data with hash %.12s, not about those with %.12s", c.Data, w.hash)
	}
	if len(c.Split.Train) == 0 || len(c.Split.Test) == 0 {
		return errors.New("expected rows to train and rows to judge on")
	}
	role := make([]bool, len(w.data.Y))
	for _, i := range slices.Concat(c.Split.Train, c.Split.Test) {
		if i < 0 || i >= len(role) {
			return fmt.Errorf("row %d: the data have %d", i, len(role))
		}
		if role[i] {
			return fmt.Errorf("row %d is there twice: a row either trains or is judged on", i)
		}
		role[i] = true
	}
	cs := c.Path.C
	if applies := c.Path.Spec.Applies("C"); applies != (len(cs) > 0) || !slices.IsSorted(cs) || applies && c.Path.Spec.Value("C").Number() != cs[0] {
		return fmt.Errorf("values of C %v: expected some that rise from that of the spec, or none where C does not apply", cs)
	}
	for _, v := range cs {
		if err := c.Path.Spec.With("C", param.Of(v)).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// prepare returns the trainer for a spec.
func (w *Worker) prepare(spec ml.Spec) (*ml.Trainer, error) {
	spec.CacheBytes = w.cacheBytes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trainer == nil || !reflect.DeepEqual(w.spec, spec) {
		t, err := ml.NewTrainer(w.data, spec)
		if err != nil {
			return nil, err
		}
		w.spec, w.trainer = spec, t
	}
	return w.trainer, nil
}
