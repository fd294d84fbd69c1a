package store

import (
	"fmt"
	"time"
)

// Quota limits what a workspace may hold; 0 means no limit. It guards against mistakes and
// runaway loops: anyone who needs more can have another workspace.
type Quota struct {
	Datasets, Runs int
	Bytes          int64 // as of Holdings
}

// DefaultQuota is generous.
var DefaultQuota = Quota{Datasets: 1000, Runs: 5000, Bytes: 1 << 30}

// room returns an error if the workspace may not hold the given numbers of further data sets and
// runs, or nothing more at all.
func (q Quota) room(tx *transaction, ws Workspace, datasets, runs int) error {
	if q == (Quota{}) {
		return nil
	}
	h, err := holdings(tx, ws)
	if err != nil {
		return err
	}
	const remedy = "Delete what you do not need, on the page %s, or ask the operator of this server for more."
	switch {
	case q.Datasets > 0 && datasets > 0 && h.Datasets+datasets > q.Datasets:
		return overQuota("This workspace holds %s, the most that it may. "+remedy, number(h.Datasets, "data set"), "Data")
	case q.Runs > 0 && runs > 0 && h.Runs+runs > q.Runs:
		return overQuota("This workspace holds %s, the most that it may. "+remedy, number(h.Runs, "run"), "Runs")
	case q.Bytes > 0 && h.Bytes >= q.Bytes:
		return overQuota("This workspace takes %s on the disk, of %s that it may. "+remedy, Size(h.Bytes), Size(q.Bytes), "Data or Runs")
	}
	return q.bound(tx, ws, 0)
}

// bound empties the trash of a workspace, oldest deletions first, down to the latest keep deletions,
// while the trash exceeds a quota of numbers or, together with the live items, the quota of bytes.
func (q Quota) bound(tx *transaction, ws Workspace, keep int) error {
	list, err := listDeletions(tx, ws, time.UnixMilli(0))
	if err != nil || len(list) <= keep || q == (Quota{}) {
		return err
	}
	live, err := holdings(tx, ws)
	if err != nil {
		return err
	}
	for ; len(list) > keep; list = list[:len(list)-1] {
		bin, err := holdings(tx, trash(ws))
		if err != nil {
			return err
		}
		if (q.Runs == 0 || bin.Runs <= q.Runs) && (q.Datasets == 0 || bin.Datasets <= q.Datasets) && (q.Bytes == 0 || live.Bytes+bin.Bytes < q.Bytes) {
			return nil
		}
		if _, err := forget(tx, `workspace = ? AND deleted = ?`, trash(ws), list[len(list)-1].At.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}

func overQuota(format string, args ...any) error {
	return &Error{"storage", fmt.Sprintf(format, args...)}
}
