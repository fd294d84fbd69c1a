package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Course is a page as a teacher has set it up for students.
type Course struct {
	Code    string    // six letters, which students type
	Token   string    // 130 random bits, which identify the teacher
	Title   string    // as students see it
	Target  string    // path and query of the page
	Hidden  []string  // controls that students do not see
	Frozen  []string  // controls that students see and cannot change
	Hash    string    // of the points that the course brings along; empty: what Target names is there for everybody
	Data    string    // what those points are called
	Closed  bool      // nothing can be handed in
	Ends    time.Time // from then on nothing can be handed in; zero: no end is set
	Handins int       // how many runs are in the gallery
	Created time.Time

	Questions []OwnQuestion // that the teacher has written
	Nameless  bool          // the teacher's pages show no names of students
}

// Fixes reports whether students cannot change a control.
func (c Course) Fixes(control string) bool {
	return slices.Contains(c.Hidden, control) || slices.Contains(c.Frozen, control)
}

// Over reports whether the course has ended.
func (c Course) Over(now time.Time) bool { return !c.Ends.IsZero() && !now.Before(c.Ends) }

// Gallery is the workspace in which the runs lie that were handed in. No token
// opens it: WorkspaceOf never returns a name like this.
func (c Course) Gallery() Workspace { return Workspace("course " + c.Code) }

// NewCourse holds the settings of a new course.
type NewCourse struct {
	Title          string
	Target         string // must begin with a slash
	Hidden, Frozen []string
	Points         *dataset.Data // to bring along; may be nil
	Data           string        // what Points are called
	Closed         bool
	Questions      []OwnQuestion // for a new course; EditCourse leaves those that are there
}

// Handin is a run that a student handed in.
type Handin struct {
	Run       string // id of the copy in the gallery
	Source    string // id of the student's own run, which may be gone
	Name      string // as it is shown: "Ada", "anonymous 3"
	Anonymous bool   // the student gave no name
	Created   time.Time
}

const (
	maxTarget   = 8000
	maxControls = 200
	maxStudent  = 60
	// MaxHandins is the largest number of runs in the gallery of a course.
	MaxHandins = 500
	// MaxNames is under how many names a workspace hands in to one course: a few, for
	// students who share a computer.
	MaxNames = 3
)

// codeLetters are easy to distinguish by eye and spell no words.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// codeLength letters leave 64 million codes.
const codeLength = 6

// IsCode reports whether a text may be the code of a course.
func IsCode(typed string) bool {
	code := CleanCode(typed)
	return len(code) == codeLength && strings.Trim(code, codeLetters) == ""
}

// CleanCode is a course code as it is stored, whatever case, spaces and dashes it
// was typed with.
func CleanCode(typed string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -\t\u00a0", r) {
			return -1
		}
		return r
	}, typed))
}

func newCode() string {
	code := make([]byte, codeLength)
	for i := range code {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters)))) // never fails
		code[i] = codeLetters[n.Int64()]
	}
	return string(code)
}

// CreateCourse stores a course of a workspace under a new code and token. It
// returns param.Problems for faults of n.
func (s *Store) CreateCourse(ctx context.Context, ws Workspace, n NewCourse) (c Course, err error) {
	title, err := checkCourse(n)
	if err != nil {
		return c, err
	}
	var p points
	if n.Points != nil {
		if p, err = encode(n.Points); err != nil {
			return c, err
		}
	}
	c = Course{
		Token: strings.ToLower(rand.Text()), Title: title, Target: n.Target, Hidden: append([]string{}, n.Hidden...), Frozen: append([]string{}, n.Frozen...),
		Hash: p.hash, Data: line(n.Data), Closed: n.Closed, Created: fromMillis(s.now()), Questions: []OwnQuestion{},
	}
	for _, q := range n.Questions {
		q.Slug = newSlug(c.Questions)
		c.Questions = append(c.Questions, q)
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		if err := s.room(ctx, tx, ws, 0, 0); err != nil {
			return err
		}
		if n.Points != nil {
			if err := writePoints(ctx, tx, p); err != nil {
				return err
			}
		}
		for {
			c.Code = newCode()
			err := affected(tx.ExecContext(ctx, `
				INSERT INTO courses (code, workspace, token, title, target, hidden, frozen, hash, data_name, closed, created, questions)
				VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?) ON CONFLICT (code) DO NOTHING`,
				c.Code, ws, c.Token, c.Title, c.Target, asJSON(&c.Hidden), asJSON(&c.Frozen), c.Hash, c.Data, c.Closed, c.Created.UnixMilli(), asJSON(&c.Questions)))
			if err != ErrNotFound { // else the code is taken
				return err
			}
		}
	})
	if err != nil {
		return Course{}, err
	}
	return c, nil
}

// checkCourse returns the cleaned title of a course, or param.Problems for faults of n.
func checkCourse(n NewCourse) (title string, err error) {
	var ps param.Problems
	title = required(&ps, "title", line(n.Title), maxName)
	switch {
	case !strings.HasPrefix(n.Target, "/") || strings.HasPrefix(n.Target, "//"):
		ps = append(ps, param.Problem{Field: "target", Message: "Choose a page of this site."})
	case len(n.Target) > maxTarget:
		ps = append(ps, param.Problem{Field: "target", Message: fmt.Sprintf("The address of the page has %d characters; at most %d are allowed.", len(n.Target), maxTarget)})
	case len(n.Questions) > MaxQuestions:
		ps = append(ps, param.Problem{Field: "target", Message: fmt.Sprintf("A course has at most %d own questions.", MaxQuestions)})
	case len(n.Hidden)+len(n.Frozen) > maxControls:
		ps = append(ps, param.Problem{Field: "target", Message: fmt.Sprintf("At most %d controls can be hidden or frozen.", maxControls)})
	}
	return title, ps.Err()
}

// EditCourse changes the title of a course, the state of its page, and which parts are hidden or
// frozen; points and hand-ins stay. It returns param.Problems for faults of n.
func (s *Store) EditCourse(ctx context.Context, code string, n NewCourse) error {
	title, err := checkCourse(n)
	if err != nil {
		return err
	}
	n.Hidden, n.Frozen = append([]string{}, n.Hidden...), append([]string{}, n.Frozen...)
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `UPDATE courses SET title = ?, target = ?, hidden = ?, frozen = ?, closed = ? WHERE code = ?`,
			title, n.Target, asJSON(&n.Hidden), asJSON(&n.Frozen), n.Closed, code))
	})
}

// Course returns the course with a code, for anybody who knows the code.
func (s *Store) Course(ctx context.Context, code string) (Course, error) {
	return s.oneCourse(ctx, `code = ?`, code)
}

// CourseOf returns the course with a code that belongs to a workspace.
func (s *Store) CourseOf(ctx context.Context, ws Workspace, code string) (Course, error) {
	return s.oneCourse(ctx, `workspace = ? AND code = ?`, ws, code)
}

// TaughtCourse returns the course that a teacher's token opens.
func (s *Store) TaughtCourse(ctx context.Context, token string) (Course, error) {
	return s.oneCourse(ctx, `token = ?`, token)
}

func (s *Store) oneCourse(ctx context.Context, where string, args ...any) (c Course, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		c, err = findCourse(ctx, tx, where, args...)
		return err
	})
	return c, err
}

// Courses lists the courses of a workspace, newest first.
func (s *Store) Courses(ctx context.Context, ws Workspace) (list []Course, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listCourses(ctx, tx, ws)
		return err
	})
	return list, err
}

// CloseCourse closes a course for hand-ins, or opens it again.
func (s *Store) CloseCourse(ctx context.Context, code string, closed bool) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `UPDATE courses SET closed = ? WHERE code = ?`, closed, code))
	})
}

// HideNames hides the names of students on the pages of a course's teacher, or shows them again.
func (s *Store) HideNames(ctx context.Context, code string, hidden bool) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `UPDATE courses SET nameless = ? WHERE code = ?`, hidden, code))
	})
}

// EndCourse sets when a course ends, to the millisecond. A zero time lifts the end.
func (s *Store) EndCourse(ctx context.Context, code string, ends time.Time) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `UPDATE courses SET ends = ? WHERE code = ?`, sql.NullInt64{Int64: ends.UnixMilli(), Valid: !ends.IsZero()}, code))
	})
}

// Admits tells why a workspace cannot hand in to a course, nil if it can: ErrClosed,
// ErrOver, ErrBlocked.
func (s *Store) Admits(ctx context.Context, ws Workspace, c Course) error {
	return s.view(ctx, func(tx *sql.Tx) error { return admits(ctx, tx, ws, c, s.now()) })
}

// Copy describes a run in a gallery without reading it.
type Copy struct {
	Run, Name string
	Workspace Workspace // of the student
	Hash      string    // of the points
	Status    Status
}

// Copies lists the runs in the gallery of a course in the order of time.
func (s *Store) Copies(ctx context.Context, c Course) (list []Copy, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT runs.id, runs.name, handins.workspace, hash, status FROM handins JOIN runs ON runs.id = run
			WHERE handins.course = ? AND runs.workspace = ? ORDER BY created, runs.rowid`, c.Code, c.Gallery())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var one Copy
			if err := rows.Scan(&one.Run, &one.Name, &one.Workspace, &one.Hash, &one.Status); err != nil {
				return err
			}
			list = append(list, one)
		}
		return rows.Err()
	})
	return list, err
}

// Blocked is a workspace that a teacher has blocked from a course.
type Blocked struct {
	ID    int64
	Names string // under which it had handed in: "Ada, anonymous 3"
	Since time.Time
}

// Block blocks the workspaces that handed in some runs of the gallery of a course, and
// deletes all that they have handed in there. Runs that are gone block nobody.
func (s *Store) Block(ctx context.Context, code string, runs []string) error {
	return s.update(ctx, func(tx *sql.Tx) error { return block(ctx, tx, code, runs, s.now()) })
}

// Unblock lets a blocked workspace hand in again.
func (s *Store) Unblock(ctx context.Context, code string, id int64) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `DELETE FROM blocks WHERE course = ? AND id = ?`, code, id))
	})
}

// Blocks lists who is blocked from a course, the latest first.
func (s *Store) Blocks(ctx context.Context, code string) (list []Blocked, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listBlocks(ctx, tx, code)
		return err
	})
	return list, err
}

// DeleteCourse deletes a course with its gallery. The runs of the students stay. Restore
// brings it back.
func (s *Store) DeleteCourse(ctx context.Context, code string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		var ws Workspace
		if err := tx.QueryRowContext(ctx, `SELECT workspace FROM courses WHERE deleted IS NULL AND code = ?`, code).Scan(&ws); err != nil {
			return found(err)
		}
		at, err := deletionTime(ctx, tx, ws, s.now())
		if err != nil {
			return err
		}
		if err := softDelete(ctx, tx, "courses", "code", ws, code, at); err != nil {
			return err
		}
		return s.Quota.bound(ctx, tx, ws, 1)
	})
}

// CreateHandin queues a run and hands it in, both or neither. It does not wait for
// room in the queue: of every workspace a few hand-ins may wait on top. Errors are those
// of CreateRun, but for ErrQueueFull, and of HandIn.
func (s *Store) CreateHandin(ctx context.Context, ws Workspace, n NewRun, name string) (r Run, err error) {
	if ps := checkStudent(name); ps != nil {
		return r, ps
	}
	name = line(name)
	q, err := prepare(n, "handed in by "+name)
	if err != nil {
		return r, err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		if r, err = findRequest(ctx, tx, ws, q); err == nil {
			there, err := findHandin(ctx, tx, ws, r.Course, name)
			if err != nil || there.Run != "" {
				return err
			}
			_, err = handIn(ctx, tx, ws, r.ID, name, s.now()) // it was withdrawn
			return err
		}
		if err != ErrNotFound {
			return err
		}
		waiting, err := waitingOf(ctx, tx, ws)
		if err != nil {
			return err
		}
		if waiting >= MaxQueuedEach+spareHandins {
			return ErrTooMany
		}
		if err := s.Quota.room(ctx, tx, ws, 0, 1); err != nil {
			return err
		}
		if r, err = createRun(ctx, tx, ws, q, s.now()); err != nil {
			return err
		}
		_, err = handIn(ctx, tx, ws, r.ID, name, s.now())
		return err
	})
	if err != nil {
		return Run{}, err
	}
	return r, nil
}

// HandIn copies a run of a workspace into the gallery of the course it was made
// under. name, of up to 60 characters, is who hands it in and may be empty. What
// the same workspace handed in before under the same name is replaced, but by the same
// run; the same run without a name gets the name. The copy of a run that has not ended gets the result of that; should the run be
// cancelled or deleted before, the copy is trained by itself. Errors: param.Problems for
// the name, ErrNotFound for the run or a course that is gone, those of Admits, ErrNoResult
// for a run that failed or was cancelled, ErrNames, ErrGalleryFull.
func (s *Store) HandIn(ctx context.Context, ws Workspace, run, name string) (h Handin, err error) {
	if ps := checkStudent(name); ps != nil {
		return h, ps
	}
	name = line(name)
	err = s.update(ctx, func(tx *sql.Tx) error {
		h, err = handIn(ctx, tx, ws, run, name, s.now())
		return err
	})
	return h, err
}

// checkStudent returns the faults of the name on a hand-in,
// nil if there are none.
func checkStudent(name string) param.Problems {
	if n := utf8.RuneCountInString(line(name)); n > maxStudent {
		return param.Problems{{Field: "who", Message: fmt.Sprintf("Your name has %d characters; at most %d are allowed.", n, maxStudent)}}
	}
	return nil
}

// Handins lists what a workspace has handed in to a course, latest first.
func (s *Store) Handins(ctx context.Context, ws Workspace, code string) (list []Handin, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listHandins(ctx, tx, ws, code)
		return err
	})
	return list, err
}

// Withdraw deletes a copy that a workspace has handed in.
func (s *Store) Withdraw(ctx context.Context, ws Workspace, run string) error {
	return s.update(ctx, func(tx *sql.Tx) error { return withdraw(ctx, tx, ws, run) })
}

const courseColumns = `code, token, title, target, hidden, frozen, hash, data_name, closed, ends, created, questions, nameless, (SELECT count(*) FROM handins WHERE course = code)`

func scanCourse(row interface{ Scan(...any) error }) (c Course, err error) {
	var hash sql.NullString
	var ends sql.NullInt64
	var created int64
	err = row.Scan(&c.Code, &c.Token, &c.Title, &c.Target, asJSON(&c.Hidden), asJSON(&c.Frozen), &hash, &c.Data, &c.Closed, &ends, &created, asJSON(&c.Questions), &c.Nameless, &c.Handins)
	if ends.Valid {
		c.Ends = fromMillis(ends.Int64)
	}
	c.Hash, c.Created = hash.String, fromMillis(created)
	return c, err
}

func findCourse(ctx context.Context, tx *sql.Tx, where string, args ...any) (Course, error) {
	c, err := scanCourse(tx.QueryRowContext(ctx, `SELECT `+courseColumns+` FROM courses WHERE deleted IS NULL AND `+where, args...))
	return c, found(err)
}

func listCourses(ctx context.Context, tx *sql.Tx, ws Workspace) (list []Course, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+courseColumns+` FROM courses WHERE workspace = ? ORDER BY created DESC, rowid DESC`, ws)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanCourse(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

func deleteCourse(ctx context.Context, tx *sql.Tx, c Course) error {
	runs, _, err := listRuns(ctx, tx, c.Gallery(), Filter{})
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := deleteRun(ctx, tx, c.Gallery(), r.ID); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM courses WHERE code = ?`, c.Code); err != nil {
		return err
	}
	return dropPoints(ctx, tx, c.Hash)
}

func handIn(ctx context.Context, tx *sql.Tx, ws Workspace, run, name string, now int64) (h Handin, err error) {
	r, err := findRun(ctx, tx, `workspace = ? AND id = ?`, ws, run)
	if err != nil {
		return h, err
	}
	c, err := findCourse(ctx, tx, `code = ?`, r.Course)
	if err != nil {
		return h, err
	}
	if err := admits(ctx, tx, ws, c, now); err != nil {
		return h, err
	}
	if r.Status == Failed || r.Status == Cancelled {
		return h, ErrNoResult
	}
	old, err := findHandin(ctx, tx, ws, c.Code, name)
	if err == nil && old.Run == "" {
		var nameless numbered
		if nameless, err = findHandin(ctx, tx, ws, c.Code, ""); err == nil && nameless.Source == run {
			old, err = renameHandin(ctx, tx, ws, c.Code, "", name)
		}
	}
	number := old.number
	switch {
	case err != nil:
	case old.Source == run: // it is said again
		return old.Handin, nil
	case old.Run != "":
		err = deleteRun(ctx, tx, c.Gallery(), old.Run)
	case c.Handins >= MaxHandins:
		err = ErrGalleryFull
	default:
		var names int
		err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1, count(*) FILTER (WHERE workspace = ?) FROM handins WHERE course = ?`, ws, c.Code).Scan(&number, &names)
		if names >= MaxNames {
			err = ErrNames
		}
	}
	if err != nil {
		return h, err
	}
	h = Handin{Run: newID(), Source: run, Name: shownName(name, number), Anonymous: name == "", Created: fromMillis(now)}
	if err := copyRun(ctx, tx, run, h, c.Gallery()); err != nil {
		return h, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO handins (run, course, workspace, source, name, number) VALUES (?, ?, ?, ?, ?, ?)`, h.Run, c.Code, ws, run, name, number)
	return h, err
}

func admits(ctx context.Context, tx *sql.Tx, ws Workspace, c Course, now int64) error {
	if c.Over(fromMillis(now)) {
		return ErrOver
	}
	var blocked bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM blocks WHERE course = ? AND workspace = ?)`, c.Code, ws).Scan(&blocked)
	switch {
	case err != nil:
		return err
	case blocked:
		return ErrBlocked
	case c.Closed:
		return ErrClosed
	}
	return nil
}

func students(ctx context.Context, tx *sql.Tx, code string) (map[string]Workspace, error) {
	rows, err := tx.QueryContext(ctx, `SELECT run, workspace FROM handins WHERE course = ?`, code)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	of := map[string]Workspace{}
	for rows.Next() {
		var run string
		var ws Workspace
		if err := rows.Scan(&run, &ws); err != nil {
			return nil, err
		}
		of[run] = ws
	}
	return of, rows.Err()
}

func block(ctx context.Context, tx *sql.Tx, code string, runs []string, now int64) error {
	of, err := students(ctx, tx, code)
	if err != nil {
		return err
	}
	for _, run := range runs {
		ws, there := of[run]
		if !there { // withdrawn meanwhile, or deleted with another of the runs
			continue
		}
		handins, err := listHandins(ctx, tx, ws, code)
		if err != nil {
			return err
		}
		var names []string
		for _, h := range handins {
			if err := withdraw(ctx, tx, ws, h.Run); err != nil {
				return err
			}
			names = append(names, h.Name)
			delete(of, h.Run)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO blocks (course, workspace, names, created) VALUES (?, ?, ?, ?) ON CONFLICT (course, workspace) DO NOTHING`,
			code, ws, strings.Join(names, ", "), now)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM students WHERE course = ? AND workspace = ?`, code, ws); err != nil { // and with them their answers
			return err
		}
	}
	return nil
}

func listBlocks(ctx context.Context, tx *sql.Tx, code string) (list []Blocked, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, names, created FROM blocks WHERE course = ? ORDER BY created DESC, id DESC`, code)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var b Blocked
		var created int64
		if err := rows.Scan(&b.ID, &b.Names, &created); err != nil {
			return nil, err
		}
		b.Since = fromMillis(created)
		list = append(list, b)
	}
	return list, rows.Err()
}

func withdraw(ctx context.Context, tx *sql.Tx, ws Workspace, run string) error {
	var gallery Workspace
	err := tx.QueryRowContext(ctx, `SELECT runs.workspace FROM handins JOIN runs ON runs.id = handins.run WHERE handins.workspace = ? AND run = ?`, ws, run).Scan(&gallery)
	if err != nil {
		return found(err)
	}
	return deleteRun(ctx, tx, gallery, run)
}

// shownName returns the name that a gallery shows for somebody who may have none.
func shownName(name string, number int) string {
	return cmp.Or(name, fmt.Sprintf("anonymous %d", number))
}

// copyRun puts what a teacher sees of a run into a gallery: not the note, the
// tags and the name that the student gave it.
func copyRun(ctx context.Context, tx *sql.Tx, run string, h Handin, gallery Workspace) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, evidence, course, created, started, finished)
		SELECT ?, ?, ?, '', '[]', dataset_name, hash, spec, axes, iif(status = 'done', status, 'queued'), report, evidence, course, ?, iif(status = 'done', started, NULL), finished
		FROM runs WHERE id = ?`, h.Run, gallery, h.Name, h.Created.UnixMilli(), run)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO models (run, part, model, scores) SELECT ?, part, model, scores FROM models WHERE run = ?`, h.Run, run)
	return err
}

// endCopies ends the copies that wait for runs that are done or have failed as those did.
func endCopies(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO models (run, part, model, scores) SELECT copy.id, part, model, scores
		FROM runs AS copy CROSS JOIN handins ON handins.run = copy.id CROSS JOIN models ON models.run = handins.source
		WHERE copy.`+notEnded+` AND copy.status = 'queued'`)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE runs SET status = source.status, report = source.report, error = source.error, started = source.started, finished = source.finished
		FROM handins JOIN runs AS source ON source.id = handins.source AND source.status IN ('done', 'failed')
		WHERE handins.run = runs.id AND runs.`+notEnded+` AND runs.status = 'queued'`)
	return err
}

// handinColumns name the run behind a hand-in for as long as its student has not deleted it.
const handinColumns = `run, coalesce((SELECT own.id FROM runs AS own WHERE own.id = source AND own.deleted IS NULL), ''), handins.name, number, runs.created`

// numbered is a hand-in with what tells the nameless apart.
type numbered struct {
	Handin
	number int
}

func scanHandin(row interface{ Scan(...any) error }) (h numbered, err error) {
	var created int64
	err = row.Scan(&h.Run, &h.Source, &h.Name, &h.number, &created)
	h.Anonymous = h.Name == ""
	h.Name, h.Created = shownName(h.Name, h.number), fromMillis(created)
	return h, err
}

// findHandin returns what a workspace has handed in under a name, the zero value if nothing.
func findHandin(ctx context.Context, tx *sql.Tx, ws Workspace, code, name string) (numbered, error) {
	h, err := scanHandin(tx.QueryRowContext(ctx, `
		SELECT `+handinColumns+` FROM handins JOIN runs ON runs.id = run
		WHERE handins.course = ? AND handins.workspace = ? AND handins.name = ?`, code, ws, name))
	if errors.Is(err, sql.ErrNoRows) {
		return numbered{}, nil
	}
	return h, err
}

// renameHandin gives what a workspace has handed in under one name another one, unless that is
// empty or has a hand-in already, and returns what stands under it now.
func renameHandin(ctx context.Context, tx *sql.Tx, ws Workspace, code, from, to string) (h numbered, err error) {
	if from == to || to == "" {
		return h, nil
	}
	if h, err = findHandin(ctx, tx, ws, code, to); err != nil || h.Run != "" {
		return h, err
	}
	if h, err = findHandin(ctx, tx, ws, code, from); err != nil || h.Run == "" {
		return h, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE handins SET name = ? WHERE run = ?`, to, h.Run); err != nil {
		return h, err
	}
	h.Name, h.Anonymous = to, false
	_, err = tx.ExecContext(ctx, `UPDATE runs SET name = ? WHERE id = ?`, to, h.Run)
	return h, err
}

func listHandins(ctx context.Context, tx *sql.Tx, ws Workspace, code string) (list []Handin, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT `+handinColumns+` FROM handins JOIN runs ON runs.id = run
		WHERE handins.course = ? AND handins.workspace = ? ORDER BY created DESC, runs.rowid DESC`, code, ws)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		h, err := scanHandin(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, h.Handin)
	}
	return list, rows.Err()
}
