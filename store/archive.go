package store

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
)

// An archive of a workspace is a zip file:
//
//	workspace.json            archiveIndex: names, tags, notes, settings, numbers
//	points/HASH.csv           a point set in canonical form, named by its SHA-256
//	models/RUN.json           the model of a run
//	models/RUN-before.json    the model of a conformal run with the original kernel
//	searches/SEARCH.json      the result of a finished search
//	studies/STUDY.json        the result of a finished study
//	reports/REPORT.json       the items of a report
//
// Limits of an archive, unpacked:
const (
	archiveFormat = 3 // 1 lacks searches and studies, 2 lacks reports
	maxEntries    = 50_000
	maxIndex      = 64 << 20
	maxPoints     = 128 << 20 // a file
	maxModel      = 64 << 20  // a file
	maxResult     = 64 << 20  // a file
	maxArchive    = 4 << 30   // together
	maxSettings   = 64 << 10  // of a run or search
	maxRows       = 1_000_000 // of points

	// A file longer than largeFile bytes may have a compression ratio of at most mostUnpacked.
	// All files together may unpack to largeArchive bytes plus mostUnpackedAll times the
	// archive's size.
	largeFile, mostUnpacked       = 32 << 20, 30
	largeArchive, mostUnpackedAll = 64 << 20, 200

	memoryPerByte = 12 // bytes of memory per byte of text while it is read

	// The decoded values of a JSON file take less than this many bytes.
	maxValues = 128 << 20
)

// MaxArchive is the largest size of an archive file.
const MaxArchive = 512 << 20

const indexName = "workspace.json"

// archiveIndex is the table of contents of an archive.
type archiveIndex struct {
	Format   int               `json:"format"`
	Exported time.Time         `json:"exported"`
	Datasets []archivedDataset `json:"datasets"`
	Runs     []archivedRun     `json:"runs"`
	Searches []archivedSearch  `json:"searches,omitempty"`
	Studies  []archivedStudy   `json:"studies,omitempty"`
	Reports  []archivedReport  `json:"reports,omitempty"`
	Answers  []archivedAnswer  `json:"answers"`
}

type archivedDataset struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Origin  string    `json:"origin"`
	Points  string    `json:"points"` // hash
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

type archivedRun struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Note        string          `json:"note"`
	Tags        []string        `json:"tags"`
	Dataset     string          `json:"dataset,omitempty"` // id
	DatasetName string          `json:"dataset_name"`
	Points      string          `json:"points"` // hash
	Spec        json.RawMessage `json:"spec"`
	Axes        [2]string       `json:"axes"`
	Status      Status          `json:"status"`
	Error       string          `json:"error,omitempty"`
	Report      *ml.Report      `json:"report,omitempty"`
	Evidence    []eval.Evidence `json:"evidence,omitempty"`
	Before      bool            `json:"before,omitempty"` // has a model with the original kernel
	Created     time.Time       `json:"created"`
	Started     time.Time       `json:"started,omitzero"`
	Finished    time.Time       `json:"finished,omitzero"`
}

type archivedAnswer struct {
	Question string `json:"question"`
	Given    string `json:"given"`
	Right    bool   `json:"right"`
}

func pointsName(hash string) string { return "points/" + hash + ".csv" }

func modelName(run, part string) string {
	if part == "before" {
		run += "-before"
	}
	return "models/" + run + ".json"
}

// Export writes the data sets, runs, searches, studies, reports and answers of a workspace as an
// archive for Import. It omits unfinished runs, searches and studies, the single searches of a
// study, courses and links. Items deleted during the export may be missing.
func (s *Store) Export(ctx context.Context, ws Workspace, w io.Writer) error {
	index := archiveIndex{Format: archiveFormat, Exported: s.Now().UTC(), Datasets: []archivedDataset{}, Runs: []archivedRun{}, Answers: []archivedAnswer{}}
	answers, err := s.Answers(ctx, ws)
	if err != nil {
		return err
	}
	for _, q := range slices.Sorted(maps.Keys(answers)) {
		index.Answers = append(index.Answers, archivedAnswer{q, answers[q].Given, answers[q].Right})
	}
	x := &exporter{s, ctx, ws, zip.NewWriter(w), map[string]bool{}, nil}
	exportAll(x, &index.Datasets, `datasets WHERE workspace = ?`, x.dataset)
	exportAll(x, &index.Runs, `runs WHERE workspace = ? AND NOT `+notEnded, x.run)
	exportAll(x, &index.Searches, `searches WHERE workspace = ? AND study IS NULL AND status = 'done'`, x.search)
	exportAll(x, &index.Studies, `studies WHERE workspace = ?`, x.study)
	exportAll(x, &index.Reports, `reports WHERE workspace = ?`, x.report)
	if x.err != nil {
		return x.err
	}
	has := map[string]bool{"": true}
	for _, d := range index.Datasets {
		has[d.ID] = true
	}
	for i, r := range index.Runs { // runs created during the export, on data sets created then
		if !has[r.Dataset] {
			index.Runs[i].Dataset = ""
		}
	}
	for i, q := range index.Searches {
		if !has[q.Dataset] {
			index.Searches[i].Dataset = ""
		}
	}
	f, err := x.zip.Create(indexName)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	enc.SetIndent("", " ")
	if err := enc.Encode(index); err != nil {
		return err
	}
	return x.zip.Close()
}

// exporter writes an archive of a workspace.
type exporter struct {
	*Store
	ctx    context.Context
	ws     Workspace
	zip    *zip.Writer
	points map[string]bool // hashes of the points in the archive
	err    error           // first error of exportAll, which then does nothing
}

// exportAll exports rows, oldest first, in the order of import, skipping those for which export
// returns ErrNotFound.
func exportAll[E any](x *exporter, list *[]E, from string, export func(id string) (E, error)) {
	if x.err != nil {
		return
	}
	var ids []string
	ids, x.err = listed(x.ctx, x.Store, column[string], `SELECT id FROM `+from+` ORDER BY created, rowid`, x.ws)
	for _, id := range ids {
		one, err := export(id)
		if err == nil {
			*list = append(*list, one)
		} else if !errors.Is(err, ErrNotFound) {
			x.err = err
			return
		}
	}
}

// addPoints adds the points with a hash, which it reads in the same transaction, to an archive.
func (x *exporter) addPoints(hash func(*transaction) string) error {
	var name string
	body, err := result(x.ctx, x.view, func(tx *transaction) (csv []byte) {
		of := hash(tx)
		if name = pointsName(of); !x.points[of] {
			csv = value[[]byte](tx, `SELECT csv FROM points WHERE hash = ?`, of)
			x.points[of] = tx.err == nil
		}
		return csv
	})
	if err != nil || body == nil {
		return err
	}
	return x.add(name, body)
}

func (x *exporter) dataset(id string) (archivedDataset, error) {
	var d Dataset
	err := x.addPoints(func(tx *transaction) string {
		d = findDataset(tx, `workspace = ? AND id = ?`, x.ws, id)
		return d.Hash
	})
	return archivedDataset{d.ID, d.Name, d.Origin, d.Hash, d.Created, d.Updated}, err
}

func (x *exporter) run(id string) (a archivedRun, err error) {
	r, err := x.RunWithoutModels(x.ctx, x.ws, id)
	if err != nil {
		return a, err
	}
	a = archivedRun{
		ID: r.ID, Name: r.Name, Note: r.Note, Tags: r.Tags, Dataset: r.Dataset, DatasetName: r.DatasetName, Points: r.Hash, Axes: r.Axes,
		Status: r.Status, Error: r.Error, Report: r.Report, Evidence: r.Evidence[:min(len(r.Evidence), mostEvidence)], Created: r.Created, Started: r.Started, Finished: r.Finished,
	}
	models, err := x.packed(x.ctx, r.ID, &a.Spec)
	switch {
	case err == nil && r.Status == Done && models["model"] == nil:
		err = ErrNotFound
	case err == nil:
		err = x.addPoints(known(r.Hash))
	}
	for _, part := range slices.Sorted(maps.Keys(models)) {
		if err == nil {
			err = x.add(modelName(r.ID, part), models[part])
		}
	}
	_, a.Before = models["before"]
	return a, err
}

// packed returns the stored models of a run by part, and its spec.
func (s *Store) packed(ctx context.Context, run string, spec *json.RawMessage) (map[string][]byte, error) {
	return result(ctx, s.view, func(tx *transaction) map[string][]byte {
		*spec = json.RawMessage(value[string](tx, `SELECT spec FROM runs WHERE id = ?`, run))
		return byKey(tx, pair[string, []byte], `SELECT part, model FROM models WHERE run = ?`, run)
	})
}

// add adds a file to an archive from its gzip form.
func (x *exporter) add(name string, packed []byte) error {
	body, err := decompress(packed)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f, err := x.zip.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return err
}

// Imported counts what Import has added.
type Imported struct {
	Datasets int `json:"datasets"` // new ones
	Runs     int `json:"runs"`     // new ones
	Searches int `json:"searches"` // new ones
	Studies  int `json:"studies"`  // new ones
	Reports  int `json:"reports"`  // new ones
	Present  int `json:"present"`  // of all kinds, already in the workspace
}

// String returns the counts as a sentence.
func (i Imported) String() string {
	parts := []string{number(i.Datasets, "data set"), number(i.Runs, "run")}
	for j, n := range []int{i.Searches, i.Studies, i.Reports} {
		if n > 0 {
			parts = append(parts, number(n, []string{"search", "study", "report"}[j]))
		}
	}
	last := len(parts) - 1
	text := "Imported: " + strings.Join(parts[:last], ", ") + " and " + parts[last] + "."
	if i.Present > 0 {
		text += fmt.Sprintf(" Skipped %s that existed already.", number(i.Present, "item"))
	}
	return text
}

// Import adds the contents of an archive made by Export to a workspace. The whole archive is
// validated before anything is stored; then items are stored one at a time. Items that the
// workspace already has, by name, points and time, are skipped, so that a second import completes
// an interrupted one. Faults of the archive are *param.Problems for the field "file".
func (s *Store) Import(ctx context.Context, ws Workspace, r io.ReaderAt, size int64) (done Imported, err error) {
	a, err := openArchive(r, size)
	if err != nil {
		return done, err
	}
	a.check(ctx)
	// add stores an entry unless one meets the conditions, and returns the id of the new or
	// existing one.
	add := func(counter *int, datasets, runs int, store func(tx *transaction), there string, conditions ...any) (id string) {
		if a.fault != nil {
			return ""
		}
		a.fail(s.update(ctx, func(tx *transaction) {
			var known bool
			if id, known = lookup(tx, column[string], `SELECT id FROM `+there, append([]any{ws}, conditions...)...); known {
				counter = &done.Present
				return
			}
			s.room(tx, ws, datasets, runs)
			store(tx)
		}))
		if a.fault == nil {
			*counter++
		}
		return id
	}
	ids := map[string]string{} // ids of data sets, by their ids in the archive
	for _, d := range a.index.Datasets {
		p := a.encoded(d.Points)
		if a.fault != nil {
			break
		}
		ds := describe(p)
		ds.ID, ds.Name, ds.Origin, ds.Created, ds.Updated = newID(), d.Name, oneLine(d.Origin), d.Created, d.Updated
		there := add(&done.Datasets, 1, 0, func(tx *transaction) {
			writePoints(tx, p)
			insertDataset(tx, ws, "", ds)
		}, `datasets WHERE workspace = ? AND name = ? AND hash = ? AND created = ?`, ds.Name, ds.Hash, ds.Created.UnixMilli())
		ids[d.ID] = cmp.Or(there, ds.ID)
	}
	for _, from := range a.index.Runs {
		p := a.encoded(from.Points)
		r, res := a.run(from, p.Data)
		r.ID, r.Dataset, r.Hash = newID(), ids[from.Dataset], from.Points
		e := encodedResult{}
		if res != nil {
			e, err = encodeResult(res)
			a.fail(err)
		}
		add(&done.Runs, 0, 1, func(tx *transaction) {
			writePoints(tx, p)
			tx.exec(`
				INSERT INTO runs (id, workspace, name, note, tags, dataset, dataset_name, hash, spec, axes, status, error, report, evidence, created, started, finished)
				VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?)`,
				r.ID, ws, r.Name, r.Note, asJSON(&r.Tags), r.Dataset, r.DatasetName, r.Hash, asJSON(&r.Spec), asJSON(&r.Axes), r.Status, r.Error, e.report, asJSON(&r.Evidence),
				r.Created.UnixMilli(), asMillis(&r.Started), asMillis(&r.Finished))
			insertModels(tx, r.ID, e)
		}, `runs WHERE workspace = ? AND name = ? AND hash = ? AND created = ?`, r.Name, r.Hash, r.Created.UnixMilli())
	}
	for _, from := range a.index.Searches {
		p, res := a.search(from)
		p.Dataset = ids[from.Dataset]
		add(&done.Searches, 0, 0, func(tx *transaction) { s.importSearch(tx, ws, from, p, res) },
			`searches WHERE workspace = ? AND study IS NULL AND hash = ? AND created = ?`, from.Points, from.Created.UnixMilli())
	}
	for _, from := range a.index.Studies {
		zipped, err := zipJSON(a.study(from))
		a.fail(err)
		add(&done.Studies, 0, 0, func(tx *transaction) {
			tx.exec(`INSERT INTO studies (id, workspace, title, file, sizes, created, result) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				newID(), ws, studyTitle(from.Title), from.File, asJSON(&from.Sizes), from.Created.UnixMilli(), zipped)
		}, `studies WHERE workspace = ? AND file = ? AND created = ?`, from.File, from.Created.UnixMilli())
	}
	for _, from := range a.index.Reports {
		frozen := a.report(&from)
		add(&done.Reports, 0, 0, func(tx *transaction) {
			roomForReports(tx, ws, 1)
			tx.exec(`INSERT INTO reports (id, workspace, title, text, frozen, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				newID(), ws, from.Title, from.Text, frozen, from.Created.UnixMilli(), from.Updated.UnixMilli())
		}, `reports WHERE workspace = ? AND title = ? AND created = ?`, from.Title, from.Created.UnixMilli())
	}
	if a.fault != nil {
		return done, a.fault
	}
	return done, s.update(ctx, func(tx *transaction) {
		for _, q := range a.index.Answers {
			tx.exec(`INSERT INTO answers (workspace, question, given, correct, answered) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				ws, q.Question, oneLine(q.Given), q.Right, s.now())
		}
	})
}

// archive is an archive being read. After its first fault nothing more is read.
type archive struct {
	index archiveIndex
	files map[string]*zip.File

	datasets map[string]bool // ids, once they are checked
	fault    error           // the first one
	hash     string          // of last
	last     points          // last result of encoded, since runs on one data set often follow one another
}

// fail keeps the first fault.
func (a *archive) fail(err error) { a.fault = cmp.Or(a.fault, err) }

func archiveError(format string, args ...any) error {
	return param.Problems{{Field: "file", Message: "the archive cannot be read: " + fmt.Sprintf(format, args...)}}
}

// ArchiveMemory estimates the memory that Import needs, from the directory of the archive: for its
// table of contents and its largest file, as text and as values.
func ArchiveMemory(r io.ReaderAt, size int64) (int64, error) {
	a, err := listArchive(r, size)
	if err != nil {
		return 0, err
	}
	var largest uint64
	for _, f := range a.files {
		if f.Name != indexName {
			largest = max(largest, f.UncompressedSize64)
		}
	}
	index := uint64(0)
	if f := a.files[indexName]; f != nil {
		index = f.UncompressedSize64
	}
	return int64(memoryPerByte * (largest + index)), nil
}

// countFiles returns an upper bound of the entries of a zip file by counting their signatures:
// listing them could exhaust the memory.
func countFiles(r io.ReaderAt, size int64) (n int, err error) {
	signature := []byte("PK\x01\x02")
	piece := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(piece) - len(signature) + 1) {
		k, err := r.ReadAt(piece, at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		n += bytes.Count(piece[:k], signature)
	}
	return n, nil
}

// listArchive opens an archive and checks the declared sizes of its files. Reading a file fails
// if it exceeds its declared size.
func listArchive(r io.ReaderAt, size int64) (*archive, error) {
	n, err := countFiles(r, size)
	if err != nil {
		return nil, err
	}
	if n > 2*maxEntries { // some entries have two files
		return nil, archiveError("it has more than %d files", maxEntries)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, archiveError("it is not a complete zip file (%v)", err)
	}
	if len(z.File) > maxEntries {
		return nil, archiveError("it has %d files, at most %d are allowed", len(z.File), maxEntries)
	}
	a := &archive{files: map[string]*zip.File{}}
	most := min(maxArchive, largeArchive+mostUnpackedAll*uint64(size))
	var total uint64
	for _, f := range z.File {
		if total += f.UncompressedSize64; f.UncompressedSize64 > most || total > most {
			return nil, archiveError("it unpacks to more than %d MB; an archive of its size may hold at most %d MB", most>>20, most>>20)
		}
		if f.UncompressedSize64 > max(largeFile, mostUnpacked*f.CompressedSize64) {
			return nil, archiveError("%q unpacks to %d MB, %d times its size: beyond %d MB, at most %d times are allowed", f.Name, f.UncompressedSize64>>20, f.UncompressedSize64/max(1, f.CompressedSize64), largeFile>>20, mostUnpacked)
		}
		if a.files[f.Name] != nil {
			return nil, archiveError("it contains %q twice", f.Name)
		}
		a.files[f.Name] = f
	}
	return a, nil
}

// read reads the table of contents of an archive entry by entry and stops if there are too many.
func (x *archiveIndex) read(r io.Reader) error {
	dec := json.NewDecoder(param.Unfolding(r, maxValues))
	dec.DisallowUnknownFields()
	if err := expect(dec, '{'); err != nil {
		return err
	}
	entries := 0
	for dec.More() {
		field, err := dec.Token()
		if err != nil {
			return err
		}
		switch field {
		case "format":
			err = dec.Decode(&x.Format)
		case "exported":
			err = dec.Decode(&x.Exported)
		case "datasets":
			err = readEntries(dec, &x.Datasets, &entries)
		case "runs":
			err = readEntries(dec, &x.Runs, &entries)
		case "searches":
			err = readEntries(dec, &x.Searches, &entries)
		case "studies":
			err = readEntries(dec, &x.Studies, &entries)
		case "reports":
			err = readEntries(dec, &x.Reports, &entries)
		case "answers":
			err = readEntries(dec, &x.Answers, &entries)
		default:
			err = fmt.Errorf("unknown field %q", field)
		}
		if err != nil {
			return err
		}
	}
	return expect(dec, '}')
}

// readEntries reads a list of the table of contents, null as an empty one.
func readEntries[E any](dec *json.Decoder, list *[]E, entries *int) error {
	begin, err := dec.Token()
	if begin == nil || err != nil {
		return err
	}
	if begin != json.Delim('[') {
		return fmt.Errorf("expected a list, found %v", begin)
	}
	for dec.More() {
		if *entries++; *entries > maxEntries {
			return fmt.Errorf("it has more than %d entries", maxEntries)
		}
		var e E
		if err := dec.Decode(&e); err != nil {
			return err
		}
		*list = append(*list, e)
	}
	return expect(dec, ']')
}

// expect reads a bracket.
func expect(dec *json.Decoder, sign json.Delim) error {
	found, err := dec.Token()
	if err == nil && found != sign {
		err = fmt.Errorf("expected %v, found %v", sign, found)
	}
	return err
}

// openArchive reads the table of contents and compares it with the files present.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	a, err := listArchive(r, size)
	if err != nil {
		return nil, err
	}
	text := a.read(indexName, maxIndex)
	if a.fault != nil {
		return nil, a.fault
	}
	if err := a.index.read(bytes.NewReader(text)); err != nil {
		return nil, archiveError("%s: %v", indexName, err)
	}
	if a.index.Format < 1 || a.index.Format > archiveFormat {
		return nil, archiveError("its format is %d, this program reads 1 to %d; a newer version may have written it", a.index.Format, archiveFormat)
	}
	wanted := map[string]bool{indexName: true}
	for _, d := range a.index.Datasets {
		wanted[pointsName(d.Points)] = true
	}
	for _, r := range a.index.Runs {
		wanted[pointsName(r.Points)] = true
		if r.Status == Done {
			wanted[modelName(r.ID, "model")] = true
		}
		if r.Before {
			wanted[modelName(r.ID, "before")] = true
		}
	}
	for _, s := range a.index.Searches {
		wanted[pointsName(s.Points)], wanted[searchName(s.ID)] = true, true
	}
	for _, s := range a.index.Studies {
		wanted[studyName(s.ID)] = true
	}
	for _, r := range a.index.Reports {
		wanted[reportName(r.ID)] = true
	}
	for name := range a.files {
		if !wanted[name] {
			return nil, archiveError("%q is not in its table of contents", name)
		}
	}
	return a, nil
}

// read returns the content of a file, which may have at most most bytes.
func (a *archive) read(name string, most int64) []byte {
	if a.fault != nil {
		return nil
	}
	f := a.files[name]
	if f == nil {
		a.fail(archiveError("%q is missing", name))
		return nil
	}
	if f.UncompressedSize64 > uint64(most) {
		a.fail(archiveError("%q is larger than %d MB", name, most>>20))
		return nil
	}
	body, err := f.Open()
	if err != nil {
		a.fail(archiveError("%q: %v", name, err))
		return nil
	}
	defer body.Close()
	text := make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(body, text); err != nil {
		a.fail(archiveError("%q: %v", name, err))
	} else if _, err := body.Read(make([]byte, 1)); err != io.EOF { // also verifies the checksum
		a.fail(archiveError("%q: %v", name, cmp.Or(err, zip.ErrFormat)))
	}
	return text
}

// check reads everything once.
func (a *archive) check(ctx context.Context) {
	a.datasets = map[string]bool{}
	checkAll(ctx, a, "data set", a.index.Datasets, func(d *archivedDataset) (id, title string) {
		a.datasets[d.ID] = true
		title = d.Name
		var ps param.Problems
		d.Name = required(&ps, "name", oneLine(d.Name), maxName)
		limited(&ps, "origin", d.Origin, maxNote)
		a.fail(ps.Err())
		a.encoded(d.Points)
		return d.ID, title
	})
	checkAll(ctx, a, "run", a.index.Runs, func(r *archivedRun) (id, title string) {
		p := a.encoded(r.Points)
		switch {
		case strings.HasSuffix(r.ID, "-before"):
			return "", r.Name
		case r.Dataset != "" && !a.datasets[r.Dataset]:
			a.fault = errNoDataset
		default:
			a.run(*r, p.Data)
		}
		return r.ID, r.Name
	})
	checkAll(ctx, a, "search", a.index.Searches, func(s *archivedSearch) (id, title string) {
		if a.search(*s); s.Dataset != "" && !a.datasets[s.Dataset] {
			a.fault = errNoDataset
		}
		return s.ID, ""
	})
	checkAll(ctx, a, "study", a.index.Studies, func(s *archivedStudy) (id, title string) {
		a.study(*s)
		return s.ID, s.Title
	})
	checkAll(ctx, a, "report", a.index.Reports, func(r *archivedReport) (id, title string) {
		a.report(r)
		return r.ID, r.Title
	})
	for _, q := range a.index.Answers {
		var ps param.Problems
		required(&ps, "question", q.Question, 4*maxName)
		limited(&ps, "answer", q.Given, maxNote)
		if len(ps) > 0 {
			a.fail(archiveError("the answer to %.100q: %v", q.Question, ps))
		}
	}
}

var errNoDataset = errors.New("its data set is not in the archive")

// checkAll checks the entries of one kind up to the first faulty one. check also returns the name
// of an entry for messages.
func checkAll[E any](ctx context.Context, a *archive, noun string, list []E, check func(*E) (id, title string)) {
	seen := map[string]bool{}
	for i := range list {
		if a.fail(ctx.Err()); a.fault != nil {
			return
		}
		id, title := check(&list[i])
		if id == "" || seen[id] {
			a.fault = errors.New("its id is missing or not unique")
		}
		seen[id] = true
		what := fmt.Sprintf("%s %d", noun, i+1)
		if title != "" {
			what += fmt.Sprintf(", %.100q", title)
		}
		var bad param.Problems
		if a.fault != nil && !(errors.As(a.fault, &bad) && bad[0].Field == "file") {
			a.fault = archiveError("%s: %v", what, a.fault)
		}
	}
}

// encoded reads a point set.
func (a *archive) encoded(hash string) points {
	if hash == a.hash && hash != "" && a.fault == nil {
		return a.last
	}
	text := a.read(pointsName(hash), maxPoints)
	if a.fault != nil {
		return points{}
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != hash {
		a.fail(archiveError("the points in %q do not match their hash", pointsName(hash)))
		return points{}
	}
	d, err := dataset.DecodeUpTo(bytes.NewReader(text), maxRows)
	if err != nil {
		a.fail(archiveError("%q: %v", pointsName(hash), err))
		return points{}
	}
	csv, err := compress(text)
	a.fail(err)
	a.hash, a.last = hash, points{d, hash, csv}
	return a.last
}

// run checks a run and reads its result, nil for one without.
func (a *archive) run(r archivedRun, d *dataset.Data) (Run, *ml.Result) {
	run := Run{DatasetName: cmp.Or(oneLine(r.DatasetName), "unsaved data"), Axes: r.Axes, Status: r.Status, Error: oneLine(r.Error), Evidence: r.Evidence[:min(len(r.Evidence), mostEvidence)], Created: r.Created, Started: r.Started, Finished: r.Finished}
	var ps param.Problems
	run.Name = required(&ps, "name", oneLine(r.Name), maxName)
	run.Note = cleanNote(&ps, r.Note)
	run.Tags = cleanTags(&ps, r.Tags)
	limited(&ps, "name of the data set", run.DatasetName, maxName)
	limited(&ps, "error", run.Error, maxNote)
	for _, axis := range run.Axes {
		limited(&ps, "axis", axis, maxNote)
	}
	a.fail(ps.Err())
	var err error
	run.Spec, err = readSettings(r.Spec)
	a.fail(err)
	var numbers struct { // the list of runs is sorted by these
		C *float64 `json:"C"`
	}
	if err := json.Unmarshal(r.Spec, &numbers); err != nil {
		a.fail(fmt.Errorf("its settings: %w", err))
	}
	switch {
	case !r.Status.Ended():
		a.fail(fmt.Errorf("expected a run that has ended, found status %q", r.Status))
	case (r.Status == Done) != (r.Report != nil), r.Before && r.Status != Done:
		a.fail(errors.New("a run has a result if, and only if, it is done"))
	}
	if r.Status != Done || a.fault != nil {
		return run, nil
	}
	res := &ml.Result{Report: *r.Report, Model: a.model(r.ID, "model")}
	if r.Before {
		res.Before = a.model(r.ID, "before")
	}
	if a.fault == nil {
		a.fail(res.Fits(d))
	}
	return run, res
}

// readSettings reads the settings of a run or search.
func readSettings(text []byte) (ml.Spec, error) {
	if len(text) > maxSettings {
		return ml.Spec{}, fmt.Errorf("its settings take %d kB, at most %d are allowed", len(text)>>10, maxSettings>>10)
	}
	return ml.ReadStoredSpec(text)
}

// values reads a JSON file whose values fit into the allowed memory.
func (a *archive) values(name string, most int64) []byte {
	text := a.read(name, most)
	if _, err := io.Copy(io.Discard, param.Unfolding(bytes.NewReader(text), maxValues)); err != nil {
		a.fail(archiveError("%q: %v", name, err))
	}
	return text
}

func (a *archive) model(run, part string) *ml.Model {
	text := a.values(modelName(run, part), maxModel)
	if a.fault != nil {
		return nil
	}
	m, err := ml.ReadStoredModel(text)
	if err != nil {
		a.fail(archiveError("%q: %v", modelName(run, part), err))
	}
	return m
}
