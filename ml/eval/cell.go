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

// Cell is one path on one split, the unit of work.
type Cell struct {
	Data   string `json:"data"` // dataset.Data.Hash
	Path   Path   `json:"path"`
	Split  Split  `json:"split"`
	Format int    `json:"format,omitempty"` // of the plan
}

// cellFormat is the version of new plans. It is part of the hash in cell names and increases when
// the results of cells change. Version 1, without a number, had only accuracies and errors; since
// version 3 the MCM is warm-started along C.
const cellFormat = 3

// Name returns the SHA-256 of the cell in hexadecimal. Equal cells have equal names in every process.
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

// cellName returns the name of a cell from its data and the JSON of its path and split.
func cellName(format int, data string, path, split []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "cell %d\n%s\n%s\n%s\n", max(1, format), data, path, split))
	return hex.EncodeToString(sum[:])
}

// failed is the status of a Fold with a Failure.
const failed trace.Status = "failed"

// CellResult holds the result of a cell.
type CellResult struct {
	Cell  string `json:"cell"`  // name of the cell
	Folds []Fold `json:"folds"` // one for each C

	// Seconds is the elapsed time, 0 if unknown.
	Seconds float64 `json:"seconds,omitempty"`
}

// Worker computes cells of one data set. It is safe for concurrent use. It caches the kernel matrix
// for the cells of one path, which does not affect results.
type Worker struct {
	data       *dataset.Data
	hash       string
	cacheBytes int64

	mu      sync.Mutex
	spec    ml.Spec // of trainer
	trainer *ml.Trainer
}

// NewWorker returns a Worker. cacheBytes limits the kernel cache of each cell, as in ml.Spec.
// Workers on the same plan must use the same value, since the last bits of a result depend on
// whether the matrix fits.
func NewWorker(d *dataset.Data, cacheBytes int64) *Worker {
	return &Worker{data: d, hash: d.Hash(), cacheBytes: cacheBytes}
}

// Compute trains and evaluates. Apart from the time, the result depends only on the cell, its
// data and cacheBytes. For a training that fails with a user-facing error, the Fold has that
// Failure. Compute returns the other errors of ml.Train, ctx.Err(), and an error for a cell that
// does not match the data.
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
		cs = []float64{1} // ignored
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

// check validates a cell, which may come from an untrusted source.
func (w *Worker) check(c Cell) error {
	if c.Data != w.hash {
		return fmt.Errorf("its data have the hash %.12s, not %.12s", c.Data, w.hash)
	}
	if len(c.Split.Train) == 0 || len(c.Split.Test) == 0 {
		return errors.New("expected training rows and test rows")
	}
	role := make([]bool, len(w.data.Y))
	for _, i := range slices.Concat(c.Split.Train, c.Split.Test) {
		if i < 0 || i >= len(role) {
			return fmt.Errorf("row %d is out of range: the data have %d rows", i, len(role))
		}
		if role[i] {
			return fmt.Errorf("row %d occurs twice: a row is in either the training set or the test set", i)
		}
		role[i] = true
	}
	cs := c.Path.C
	if applies := c.Path.Spec.Applies("C"); applies != (len(cs) > 0) || !slices.IsSorted(cs) || applies && c.Path.Spec.Value("C").Number() != cs[0] {
		return fmt.Errorf("values of C %v: expected increasing values that start at the C of the spec, or none if C does not apply", cs)
	}
	for _, v := range cs {
		if err := c.Path.Spec.With("C", param.Of(v)).Validate(); err != nil {
			return err
		}
	}
	return nil
}

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
