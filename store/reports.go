package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"marginlab/ml/param"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
)

// Report is a text with items: runs, searches, studies and comparisons.
type Report struct {
	ID, Title        string
	Text             string // Markdown with the addresses of the items
	Frozen           Frozen // omitted in lists
	Share            string // token of a read-only link; empty: none
	Created, Updated time.Time
}

// Frozen holds the items of a report as they were when inserted, independent of anything stored
// elsewhere.
type Frozen struct {
	Items  []ReportItem      `json:"items"`
	Points map[string]string `json:"points,omitempty"` // training points of the items: canonical CSV by hash
}

// ReportItem is a run, a search, a study, a comparison or one figure of a run.
type ReportItem struct {
	Address string         `json:"address"` // path and query of its page
	Title   string         `json:"title"`
	Verdict string         `json:"verdict"` // one sentence
	Details string         `json:"details"` // settings and data, in one line
	Tables  []study.Table  `json:"tables,omitempty"`
	Figures []ReportFigure `json:"figures,omitempty"`
	Command string         `json:"command,omitempty"` // terminal command; empty: none
	Task    repeat.Task    `json:"task"`
	Saved   time.Time      `json:"saved"`
}

// ReportFigure is a picture in every format that a report needs.
type ReportFigure struct {
	Title   string `json:"title,omitempty"` // for the caption
	Caption string `json:"caption"`         // text alternative
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	SVG     []byte `json:"svg"`
	Dark    []byte `json:"dark"` // SVG for dark pages

	// The same for narrow screens.
	Narrow       []byte `json:"narrow"`
	NarrowDark   []byte `json:"narrow_dark"`
	NarrowWidth  int    `json:"narrow_width"`
	NarrowHeight int    `json:"narrow_height"`

	PDF []byte `json:"pdf"`
}

// Limits of a report, and of the reports of a workspace.
const (
	MaxReports     = 200
	MaxReportItems = 30
	MaxReportText  = 50_000   // characters
	MaxFrozen      = 32 << 20 // bytes of JSON
)

// cleanReport validates a report and returns its fields for storing. Faults are param.Problems.
func cleanReport(title, text string, f Frozen) (string, string, []byte, error) {
	var ps param.Problems
	title = required(&ps, "title", oneLine(title), maxName)
	text = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"), "\x00", "")
	text = limited(&ps, "text", strings.TrimSpace(text), MaxReportText)
	if n := len(f.Items); n > MaxReportItems {
		ps.Add("text", "The report shows %d items; at most %d are allowed.", n, MaxReportItems)
	}
	if err := ps.Err(); err != nil {
		return "", "", nil, err
	}
	frozen, err := json.Marshal(f)
	if err != nil {
		return "", "", nil, err
	}
	if len(frozen) > MaxFrozen {
		return "", "", nil, param.Problems{{Field: "text", Message: fmt.Sprintf("The report holds %d MB of figures and data; at most %d are allowed. Place fewer items, or some in another report.", len(frozen)>>20, MaxFrozen>>20)}}
	}
	packed, err := compress(frozen)
	return title, text, packed, err
}

// roomForReports fails if a workspace has no room for more reports.
func roomForReports(tx *transaction, ws Workspace, more int) {
	if held := value[int](tx, `SELECT count(*) FROM reports WHERE workspace = ?`, ws); more > 0 && held+more > MaxReports {
		tx.fail(overQuota("This workspace holds %s; at most %d are allowed. Delete some that nobody needs, on the page Reports.", number(held, "report"), MaxReports))
	}
}

// CreateReport stores a report. It is idempotent.
func (s *Store) CreateReport(ctx context.Context, ws Workspace, asks Request, title, text string, f Frozen) (r Report, err error) {
	title, text, frozen, err := cleanReport(title, text, f)
	if err != nil {
		return r, err
	}
	request, err := asks.of(title, text)
	if err != nil {
		return r, err
	}
	now := s.now()
	return result(ctx, s.update, func(tx *transaction) Report {
		if known, ok := repeated(tx, "reports", ws, request, findReport); ok {
			return known
		}
		s.room(tx, ws, 0, 0)
		roomForReports(tx, ws, 1)
		r = Report{newID(), title, text, f, "", fromMillis(now), fromMillis(now)}
		tx.exec(`INSERT INTO reports (id, workspace, title, text, frozen, created, updated, request) VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''))`,
			r.ID, ws, title, text, frozen, now, now, request)
		return r
	})
}

// UpdateReport replaces title, text and items of a report.
func (s *Store) UpdateReport(ctx context.Context, ws Workspace, id, title, text string, f Frozen) error {
	title, text, frozen, err := cleanReport(title, text, f)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx *transaction) {
		s.room(tx, ws, 0, 0)
		tx.execFound(`UPDATE reports SET title = ?, text = ?, frozen = ?, updated = max(?, updated + 1) WHERE workspace = ? AND id = ?`, title, text, frozen, s.now(), ws, id)
	})
}

// Report returns one report of a workspace.
func (s *Store) Report(ctx context.Context, ws Workspace, id string) (Report, error) {
	return result(ctx, s.view, func(tx *transaction) Report { return findReport(tx, `workspace = ? AND id = ?`, ws, id) })
}

// ReportVersion returns a report found by ReportWithoutItems with its items, or ErrNotFound if it
// has changed since.
func (s *Store) ReportVersion(ctx context.Context, of Report) (Report, error) {
	return result(ctx, s.view, func(tx *transaction) Report {
		return findReport(tx, `id = ? AND updated = ?`, of.ID, of.Updated.UnixMilli())
	})
}

// ReportWithoutItems returns one report, quickly, by id or by the token of ShareReport.
func (s *Store) ReportWithoutItems(ctx context.Context, ws Workspace, id, token string) (Report, error) {
	return result(ctx, s.view, func(tx *transaction) Report {
		return find(tx, scanReportOnly, `SELECT `+reportColumns+` FROM reports WHERE workspace = ?1 AND id = ?2 OR share = ?3 AND deleted IS NULL`, ws, id, token)
	})
}

// ReportBytes estimates the memory in bytes to read a report of any workspace: callers have the id
// from ReportWithoutItems.
func (s *Store) ReportBytes(ctx context.Context, id string) (int64, error) {
	return result(ctx, s.view, func(tx *transaction) int64 {
		_, text := sizeOf(tx, `frozen`, `reports WHERE id = ?`, id)
		return 4 * text // compressed, as JSON text, and decoded, briefly twice
	})
}

// Reports lists the reports of a workspace, last changed first.
func (s *Store) Reports(ctx context.Context, ws Workspace) ([]Report, error) {
	return listed(ctx, s, scanReportOnly, `SELECT `+reportColumns+` FROM reports WHERE workspace = ? ORDER BY updated DESC, id`, ws)
}

// ReportTitles lists the ids and titles of a workspace's reports in the order of Reports.
func (s *Store) ReportTitles(ctx context.Context, ws Workspace) ([]Report, error) {
	return listed(ctx, s, func(r row, to *Report) error { return r.Scan(&to.ID, &to.Title) }, `SELECT id, title FROM reports WHERE workspace = ? ORDER BY updated DESC, id`, ws)
}

// DeleteReport deletes a report. Restore brings it back.
func (s *Store) DeleteReport(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *transaction) { s.softDelete(tx, "reports", "id", ws, id) })
}

// ShareReport returns the token of a report's read-only link: 130 random bits. A report that is
// shared already keeps its token.
func (s *Store) ShareReport(ctx context.Context, ws Workspace, id string) (token string, err error) {
	return s.addLink(ctx, "reports", ws, id)
}

// UnshareReport permanently disables the read-only link of a report.
func (s *Store) UnshareReport(ctx context.Context, ws Workspace, id string) error {
	return s.removeLink(ctx, "reports", ws, id)
}

const reportColumns = `id, title, text, coalesce(share, ''), created, updated`

func scanReport(r row, to *Report, more ...any) error {
	return r.Scan(append([]any{&to.ID, &to.Title, &to.Text, &to.Share, asMillis(&to.Created), asMillis(&to.Updated)}, more...)...)
}

func scanReportOnly(r row, to *Report) error { return scanReport(r, to) }

func findReport(tx *transaction, where string, args ...any) Report {
	return find(tx, func(r row, to *Report) error {
		var packed []byte
		if err := scanReport(r, to, &packed); err != nil {
			return err
		}
		text, err := decompress(packed)
		if err != nil {
			return err
		}
		return json.NewDecoder(param.Unfolding(bytes.NewReader(text), 8*MaxFrozen)).Decode(&to.Frozen)
	}, `SELECT `+reportColumns+`, frozen FROM reports WHERE `+where, args...)
}

// archivedReport is a report in the table of contents of an archive; its items are in a file.
type archivedReport struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

func reportName(id string) string { return "reports/" + id + ".json" }

// report validates a report of an archive and returns its compressed items.
func (a *archive) report(r *archivedReport) (frozen []byte) {
	var f Frozen
	if a.result(reportName(r.ID), &f); a.fault != nil {
		return nil
	}
	if err := f.checkPoints(); err != nil {
		a.fail(archiveError("%q: %v", reportName(r.ID), err))
	}
	var err error
	r.Title, r.Text, frozen, err = cleanReport(r.Title, r.Text, f)
	a.fail(err)
	return frozen
}

// checkPoints returns an error unless all points match their hashes and the points of every task are
// included: a report must not gain access to others' points by their hash.
func (f *Frozen) checkPoints() error {
	for hash, text := range f.Points {
		if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != hash {
			return fmt.Errorf("the points %.12q do not match their hash", hash)
		}
	}
	for i, item := range f.Items {
		for _, hash := range item.Task.Hashes() {
			if _, ok := f.Points[hash]; !ok && hash != "" {
				return fmt.Errorf("the points %.12q of item %d are missing", hash, i+1)
			}
		}
	}
	return nil
}
