package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Quota is the most that a workspace may hold; 0: any number. It is for what is made by
// mistake or by a loop: whoever needs more can have another workspace.
type Quota struct {
	Datasets, Runs int
	Bytes          int64 // as of Holdings
}

// DefaultQuota is generous.
var DefaultQuota = Quota{Datasets: 1000, Runs: 5000, Bytes: 1 << 30}

// room reports a workspace that may not hold so many more data sets and runs, or nothing
// more at all.
func (q Quota) room(ctx context.Context, tx *sql.Tx, ws Workspace, datasets, runs int) error {
	if q == (Quota{}) {
		return nil
	}
	h, err := holdings(ctx, tx, ws)
	if err != nil {
		return err
	}
	const remedy = "Delete what you do not need, on the page %s, or ask whoever runs this server for more."
	switch {
	case q.Datasets > 0 && datasets > 0 && h.Datasets+datasets > q.Datasets:
		return overQuota("This workspace holds %s, the most that it may. "+remedy, number(h.Datasets, "data set"), "Data")
	case q.Runs > 0 && runs > 0 && h.Runs+runs > q.Runs:
		return overQuota("This workspace holds %s, the most that it may. "+remedy, number(h.Runs, "run"), "Runs")
	case q.Bytes > 0 && h.Bytes >= q.Bytes:
		return overQuota("This workspace takes %s on the disk, of %s that it may. "+remedy, Size(h.Bytes), Size(q.Bytes), "Data or Runs")
	}
	return nil
}

func overQuota(format string, args ...any) error {
	return &Error{"storage", fmt.Sprintf(format, args...)}
}
