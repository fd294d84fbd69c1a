package store

import (
	"fmt"
	"time"

	"marginlab/ml/param"
)

// Quota limits the contents of a workspace; 0 means no limit. It guards against mistakes such as
// runaway loops, not against abuse: anyone can create another workspace.
type Quota struct {
	Datasets, Runs int
	Bytes          int64 // as in Holdings
}

// DefaultQuota is more than a course or project needs.
var DefaultQuota = Quota{Datasets: 1000, Runs: 5000, Bytes: 1 << 30}

// room fails if the workspace has no room for further data sets and runs.
func (q Quota) room(tx *transaction, ws Workspace, datasets, runs int) {
	if q == (Quota{}) {
		return
	}
	h := holdings(tx, ws)
	const remedy = "Delete what you do not need, on the page %s, or ask the operator of this server for more."
	switch {
	case q.Datasets > 0 && datasets > 0 && h.Datasets+datasets > q.Datasets:
		tx.fail(overQuota("This workspace holds %s, the maximum. "+remedy, number(h.Datasets, "data set"), "Data"))
	case q.Runs > 0 && runs > 0 && h.Runs+runs > q.Runs:
		tx.fail(overQuota("This workspace holds %s, the maximum. "+remedy, number(h.Runs, "run"), "Runs"))
	case q.Bytes > 0 && h.Bytes >= q.Bytes:
		tx.fail(overQuota("This workspace uses %s of its %s on disk. "+remedy, param.Bytes(h.Bytes), param.Bytes(q.Bytes), "Data or Runs"))
	}
	q.trimTrash(tx, ws, 0)
}

// trimTrash purges a workspace's deletions, oldest first, while the trash exceeds the item quota
// or, together with the live items, the byte quota. It keeps the latest keep deletions.
func (q Quota) trimTrash(tx *transaction, ws Workspace, keep int) {
	list := listDeletions(tx, ws, time.UnixMilli(0))
	if len(list) <= keep || q == (Quota{}) {
		return
	}
	live := holdings(tx, ws)
	for ; len(list) > keep; list = list[:len(list)-1] {
		bin := holdings(tx, trash(ws))
		if (q.Runs == 0 || bin.Runs <= q.Runs) && (q.Datasets == 0 || bin.Datasets <= q.Datasets) && (q.Bytes == 0 || live.Bytes+bin.Bytes < q.Bytes) {
			return
		}
		forget(tx, `workspace = ? AND deleted = ?`, trash(ws), list[len(list)-1].At.UnixMilli())
	}
}

func overQuota(format string, args ...any) error {
	return &Error{"storage", fmt.Sprintf(format, args...)}
}
