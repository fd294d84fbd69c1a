package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Course is a page set up by a teacher for students.
type Course struct {
	Code    string    // six letters, which students type
	Token   string    // 130 random bits, which identify the teacher
	Title   string    // as students see it
	Target  string    // path and query of the page
	Hidden  []string  // controls that students do not see
	Frozen  []string  // controls that students see and cannot change
	Hash    string    // of the course's own points; empty: Target is available to everyone
	Data    string    // name of those points
	Closed  bool      // no hand-ins are accepted
	Ends    time.Time // deadline; zero: none
	Handins int       // how many runs are in the gallery
	Created time.Time

	Questions []OwnQuestion // written by the teacher
	Nameless  bool          // the teacher's pages hide student names
	Free      bool          // followers of the slides may move the controls
}

// Fixes reports whether students cannot change a control.
func (c Course) Fixes(control string) bool {
	return slices.Contains(c.Hidden, control) || slices.Contains(c.Frozen, control)
}

// Over reports whether the course has ended.
func (c Course) Over(now time.Time) bool { return !c.Ends.IsZero() && !now.Before(c.Ends) }

// Gallery returns the pseudo-workspace of the submitted runs. No token opens it:
// WorkspaceOf never returns such a name.
func (c Course) Gallery() Workspace { return Workspace("course " + c.Code) }

// NewCourse holds the settings of a new course.
type NewCourse struct {
	Title          string
	Target         string // must begin with a slash
	Hidden, Frozen []string
	Points         *dataset.Data // own points of the course; may be nil
	Data           string        // name of Points
	Closed         bool
	Questions      []OwnQuestion // for a new course; EditCourse keeps the existing ones
}

// Handin is a run submitted by a student.
type Handin struct {
	Run       string // id of the copy in the gallery
	Source    string // id of the student's own run, possibly deleted
	Name      string // as shown: "Ada", "anonymous 3"
	Anonymous bool   // the student gave no name
	Created   time.Time
}

const (
	maxTarget   = 8000
	maxControls = 200
	maxStudent  = 60
	// maxHandins is the largest number of runs in the gallery of a course.
	maxHandins = 500
	// MaxNames is the most names under which a workspace can submit to one course: a few, for
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

// CleanCode normalises a typed course code, ignoring case, spaces and dashes.
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
	p, err := encode(n.Points)
	if err != nil {
		return c, err
	}
	c = Course{
		Token: strings.ToLower(rand.Text()), Title: title, Target: n.Target, Hidden: append([]string{}, n.Hidden...), Frozen: append([]string{}, n.Frozen...),
		Hash: p.hash, Data: oneLine(n.Data), Closed: n.Closed, Created: fromMillis(s.now()), Questions: []OwnQuestion{},
	}
	for _, q := range n.Questions {
		q.Slug = newSlug(c.Questions)
		c.Questions = append(c.Questions, q)
	}
	err = s.update(ctx, func(tx *transaction) {
		s.room(tx, ws, 0, 0)
		writePoints(tx, p)
		for made := 0; made == 0 && tx.err == nil; { // until an unused code is found
			c.Code = newCode()
			made = tx.exec(`
				INSERT INTO courses (code, workspace, token, title, target, hidden, frozen, hash, data_name, closed, created, questions)
				VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?) ON CONFLICT (code) DO NOTHING`,
				c.Code, ws, c.Token, c.Title, c.Target, asJSON(&c.Hidden), asJSON(&c.Frozen), c.Hash, c.Data, c.Closed, c.Created.UnixMilli(), asJSON(&c.Questions))
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
	title = required(&ps, "title", oneLine(n.Title), maxName)
	switch {
	case !strings.HasPrefix(n.Target, "/") || strings.HasPrefix(n.Target, "//"):
		ps.Add("target", "Choose a page of this site.")
	case len(n.Target) > maxTarget:
		ps.Add("target", "The address of the page has %d characters; at most %d are allowed.", len(n.Target), maxTarget)
	case len(n.Questions) > maxQuestions:
		ps.Add("target", "A course has at most %d own questions.", maxQuestions)
	case len(n.Hidden)+len(n.Frozen) > maxControls:
		ps.Add("target", "At most %d controls can be hidden or frozen.", maxControls)
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
	return s.change(ctx, `UPDATE courses SET title = ?, target = ?, hidden = ?, frozen = ?, closed = ? WHERE code = ?`,
		title, n.Target, asJSON(&n.Hidden), asJSON(&n.Frozen), n.Closed, code)
}

// Course returns the course with a code.
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

func (s *Store) oneCourse(ctx context.Context, where string, args ...any) (Course, error) {
	return result(ctx, s.view, func(tx *transaction) Course { return findCourse(tx, where, args...) })
}

// Courses lists the courses of a workspace, newest first.
func (s *Store) Courses(ctx context.Context, ws Workspace) ([]Course, error) {
	return result(ctx, s.view, func(tx *transaction) []Course { return coursesOf(tx, `workspace = ?`, ws) })
}

// CloseCourse closes a course for hand-ins, or opens it again.
func (s *Store) CloseCourse(ctx context.Context, code string, closed bool) error {
	return s.change(ctx, `UPDATE courses SET closed = ? WHERE code = ?`, closed, code)
}

// HideNames hides the names of students on the pages of a course's teacher, or shows them again.
func (s *Store) HideNames(ctx context.Context, code string, hidden bool) error {
	return s.change(ctx, `UPDATE courses SET nameless = ? WHERE code = ?`, hidden, code)
}

// FreeControls lets the students who follow a course's slides move the controls, or stops them.
func (s *Store) FreeControls(ctx context.Context, code string, free bool) error {
	return s.change(ctx, `UPDATE courses SET free = ? WHERE code = ?`, free, code)
}

// EndCourse sets the end of a course, to the millisecond; a zero time removes it.
func (s *Store) EndCourse(ctx context.Context, code string, ends time.Time) error {
	return s.change(ctx, `UPDATE courses SET ends = ? WHERE code = ?`, asMillis(&ends), code)
}

// Admits returns ErrClosed, ErrOver or ErrBlocked if a workspace cannot submit to a course.
func (s *Store) Admits(ctx context.Context, ws Workspace, c Course) error {
	return s.view(ctx, func(tx *transaction) { admits(tx, ws, c, s.now()) })
}

// Copy describes a run in a gallery without reading it.
type Copy struct {
	Run, Name string
	Workspace Workspace // of the student
	Hash      string    // of the points
	Status    Status
}

// Copies lists the runs in the gallery of a course in chronological order.
func (s *Store) Copies(ctx context.Context, c Course) ([]Copy, error) {
	return listed(ctx, s, func(r row, one *Copy) error {
		return r.Scan(&one.Run, &one.Name, &one.Workspace, &one.Hash, &one.Status)
	}, `SELECT runs.id, runs.name, handins.workspace, hash, status FROM handins JOIN runs ON runs.id = run
		WHERE handins.course = ? AND runs.workspace = ? ORDER BY created, runs.rowid`, c.Code, c.Gallery())
}

// Blocked is a workspace that a teacher has blocked from a course.
type Blocked struct {
	ID    int64
	Names string // under which it had handed in: "Ada, anonymous 3"
	Since time.Time
}

// Block blocks the workspaces that submitted some runs of a course's gallery and deletes all
// their submissions there. Deleted runs are ignored.
func (s *Store) Block(ctx context.Context, code string, runs []string) error {
	return s.update(ctx, func(tx *transaction) {
		of := byKey(tx, pair[string, Workspace], `SELECT run, workspace FROM handins WHERE course = ?`, code)
		for _, run := range runs {
			ws, there := of[run]
			if !there { // withdrawn meanwhile, or deleted with another of the runs
				continue
			}
			var names []string
			for _, h := range listHandins(tx, ws, code) {
				withdraw(tx, ws, h.Run)
				names = append(names, h.Name)
				delete(of, h.Run)
			}
			tx.exec(`INSERT INTO blocks (course, workspace, names, created) VALUES (?, ?, ?, ?) ON CONFLICT (course, workspace) DO NOTHING`, code, ws, strings.Join(names, ", "), s.now())
			tx.exec(`DELETE FROM students WHERE course = ? AND workspace = ?`, code, ws) // the foreign key deletes their answers
		}
	})
}

// Unblock lets a blocked workspace hand in again.
func (s *Store) Unblock(ctx context.Context, code string, id int64) error {
	return s.change(ctx, `DELETE FROM blocks WHERE course = ? AND id = ?`, code, id)
}

// Blocks lists the workspaces blocked from a course, latest first.
func (s *Store) Blocks(ctx context.Context, code string) ([]Blocked, error) {
	return listed(ctx, s, func(r row, b *Blocked) error { return r.Scan(&b.ID, &b.Names, asMillis(&b.Since)) },
		`SELECT id, names, created FROM blocks WHERE course = ? ORDER BY created DESC, id DESC`, code)
}

// DeleteCourse deletes a course with its gallery. The runs of the students stay. Restore
// brings it back.
func (s *Store) DeleteCourse(ctx context.Context, code string) error {
	return s.update(ctx, func(tx *transaction) {
		ws := value[Workspace](tx, `SELECT workspace FROM courses WHERE deleted IS NULL AND code = ?`, code)
		s.softDelete(tx, "courses", "code", ws, code)
	})
}

// CreateHandin queues and submits a run atomically. A full queue does not prevent it: each
// workspace may exceed the limit by a few submissions. It fails where CreateRun does, except with
// ErrQueueFull, and where HandIn does.
func (s *Store) CreateHandin(ctx context.Context, ws Workspace, n NewRun, name string) (r Run, err error) {
	if ps := checkStudent(name); ps != nil {
		return r, ps
	}
	name = oneLine(name)
	q, err := prepare(n, "handed in by "+name)
	if err != nil {
		return r, err
	}
	return result(ctx, s.update, func(tx *transaction) Run {
		r, again := repeated(tx, "runs", ws, q.request, findRun)
		if again {
			if there := findHandin(tx, ws, r.Course, name); there.Run != "" { // else it was withdrawn
				return r
			}
		} else {
			if waiting := value[int](tx, `SELECT count(*) FROM runs WHERE workspace = ? AND `+notEnded+` AND status = 'queued'`, ws); waiting >= MaxQueuedEach+spareHandins {
				tx.fail(ErrTooMany)
			}
			s.Quota.room(tx, ws, 0, 1)
			r = createRun(tx, ws, q, s.now())
		}
		handIn(tx, ws, r.ID, name, s.now())
		return r
	})
}

// HandIn copies a run of a workspace into the gallery of its course. name is the student's, up to
// 60 characters, and may be empty. The copy replaces the workspace's earlier submission under the
// same name; submitting the same run again only adds a missing name. The copy of an unfinished run
// receives that run's result, or is trained separately if the run is cancelled or deleted first.
// Errors: param.Problems for the name, ErrNotFound for a missing run or course, those of Admits,
// ErrNoResult for a failed or cancelled run, ErrNames, ErrGalleryFull.
func (s *Store) HandIn(ctx context.Context, ws Workspace, run, name string) (h Handin, err error) {
	if ps := checkStudent(name); ps != nil {
		return h, ps
	}
	name = oneLine(name)
	return result(ctx, s.update, func(tx *transaction) Handin { return handIn(tx, ws, run, name, s.now()) })
}

// checkStudent validates the name on a submission.
func checkStudent(name string) param.Problems {
	if n := utf8.RuneCountInString(oneLine(name)); n > maxStudent {
		return param.Problems{{Field: "who", Message: fmt.Sprintf("Your name has %d characters; at most %d are allowed.", n, maxStudent)}}
	}
	return nil
}

// Handins lists a workspace's submissions to a course, latest first.
func (s *Store) Handins(ctx context.Context, ws Workspace, code string) ([]Handin, error) {
	return result(ctx, s.view, func(tx *transaction) []Handin { return listHandins(tx, ws, code) })
}

// Withdraw deletes a submission of a workspace.
func (s *Store) Withdraw(ctx context.Context, ws Workspace, run string) error {
	return s.update(ctx, func(tx *transaction) { withdraw(tx, ws, run) })
}

const courseColumns = `code, token, title, target, hidden, frozen, coalesce(hash, ''), data_name, closed, ends, created, questions, nameless, free, (SELECT count(*) FROM handins WHERE course = code)`

func scanCourse(r row, c *Course) error {
	return r.Scan(&c.Code, &c.Token, &c.Title, &c.Target, asJSON(&c.Hidden), asJSON(&c.Frozen), &c.Hash, &c.Data, &c.Closed, asMillis(&c.Ends), asMillis(&c.Created), asJSON(&c.Questions), &c.Nameless, &c.Free, &c.Handins)
}

func findCourse(tx *transaction, where string, args ...any) Course {
	return find(tx, scanCourse, `SELECT `+courseColumns+` FROM courses WHERE deleted IS NULL AND `+where, args...)
}

// coursesOf lists courses, including deleted ones, newest first.
func coursesOf(tx *transaction, where string, args ...any) []Course {
	return listOf(tx, scanCourse, `SELECT `+courseColumns+` FROM courses WHERE `+where+` ORDER BY created DESC, rowid DESC`, args...)
}

// deleteCourses deletes courses with their galleries and returns their number.
func deleteCourses(tx *transaction, where string, args ...any) int {
	list := coursesOf(tx, where, args...)
	for _, c := range list {
		hashes := texts(tx, `DELETE FROM runs WHERE workspace = ? RETURNING hash`, c.Gallery())
		tx.exec(`DELETE FROM courses WHERE code = ?`, c.Code)
		dropPoints(tx, append(hashes, c.Hash)...)
	}
	return len(list)
}

func handIn(tx *transaction, ws Workspace, run, name string, now int64) (h Handin) {
	r := findRun(tx, `workspace = ? AND id = ?`, ws, run)
	c := findCourse(tx, `code = ?`, r.Course)
	admits(tx, ws, c, now)
	if r.Status == Failed || r.Status == Cancelled {
		tx.fail(ErrNoResult)
	}
	old := findHandin(tx, ws, c.Code, name)
	if old.Run == "" {
		if nameless := findHandin(tx, ws, c.Code, ""); nameless.Source == run {
			old = renameHandin(tx, ws, c.Code, "", name)
		}
	}
	number := old.number
	switch {
	case tx.err != nil:
		return h
	case old.Source == run: // submitted again
		return old.Handin
	case old.Run != "":
		deleteRun(tx, c.Gallery(), old.Run)
	case c.Handins >= maxHandins:
		tx.fail(ErrGalleryFull)
	default:
		var names int
		tx.one(`SELECT coalesce(max(number), 0) + 1, count(*) FILTER (WHERE workspace = ?) FROM handins WHERE course = ?`, ws, c.Code)(&number, &names)
		if names >= MaxNames {
			tx.fail(ErrNames)
		}
	}
	h = Handin{Run: newID(), Source: run, Name: shownName(name, number), Anonymous: name == "", Created: fromMillis(now)}
	copyRun(tx, run, h, c.Gallery())
	tx.exec(`INSERT INTO handins (run, course, workspace, source, name, number) VALUES (?, ?, ?, ?, ?, ?)`, h.Run, c.Code, ws, run, name, number)
	return h
}

func admits(tx *transaction, ws Workspace, c Course, now int64) {
	switch {
	case c.Over(fromMillis(now)):
		tx.fail(ErrOver)
	case tx.exists(`blocks WHERE course = ? AND workspace = ?`, c.Code, ws):
		tx.fail(ErrBlocked)
	case c.Closed:
		tx.fail(ErrClosed)
	}
}

func withdraw(tx *transaction, ws Workspace, run string) {
	gallery := value[Workspace](tx, `SELECT runs.workspace FROM handins JOIN runs ON runs.id = handins.run WHERE handins.workspace = ? AND run = ?`, ws, run)
	deleteRun(tx, gallery, run)
}

// shownName returns name as shown in a gallery, or a placeholder if it is empty.
func shownName(name string, number int) string {
	return cmp.Or(name, fmt.Sprintf("anonymous %d", number))
}

// copyRun copies a run to a gallery without the student's note, tags and run name.
func copyRun(tx *transaction, run string, h Handin, gallery Workspace) {
	tx.exec(`
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, evidence, course, created, started, finished)
		SELECT ?, ?, ?, '', '[]', dataset_name, hash, spec, axes, iif(status = 'done', status, 'queued'), report, evidence, course, ?, iif(status = 'done', started, NULL), finished
		FROM runs WHERE id = ?`, h.Run, gallery, h.Name, h.Created.UnixMilli(), run)
	tx.exec(`INSERT INTO models (run, part, model, scores) SELECT ?, part, model, scores FROM models WHERE run = ?`, h.Run, run)
}

// endCopies ends copies waiting for runs that are done or failed, with the same outcome.
func endCopies(tx *transaction) {
	tx.exec(`
		INSERT INTO models (run, part, model, scores) SELECT copy.id, part, model, scores
		FROM runs AS copy CROSS JOIN handins ON handins.run = copy.id CROSS JOIN models ON models.run = handins.source
		WHERE copy.` + notEnded + ` AND copy.status = 'queued'`)
	tx.exec(`
		UPDATE runs SET status = source.status, report = source.report, error = source.error, started = source.started, finished = source.finished
		FROM handins JOIN runs AS source ON source.id = handins.source AND source.status IN ('done', 'failed')
		WHERE handins.run = runs.id AND runs.` + notEnded + ` AND runs.status = 'queued'`)
}

// handins selects submissions, with the id of the original run until its student deletes it.
const handins = `SELECT run, coalesce((SELECT own.id FROM runs AS own WHERE own.id = source AND own.deleted IS NULL), ''), handins.name, number, runs.created
	FROM handins JOIN runs ON runs.id = run WHERE handins.course = ? AND handins.workspace = ?`

// numbered is a submission with the number that distinguishes students without a name.
type numbered struct {
	Handin
	number int
}

func scanHandin(r row, h *numbered) error {
	err := r.Scan(&h.Run, &h.Source, &h.Name, &h.number, asMillis(&h.Created))
	h.Anonymous = h.Name == ""
	h.Name = shownName(h.Name, h.number)
	return err
}

// findHandin returns a workspace's submission under a name, or the zero value.
func findHandin(tx *transaction, ws Workspace, code, name string) numbered {
	h, _ := lookup(tx, scanHandin, handins+` AND handins.name = ?`, code, ws, name)
	return h
}

// renameHandin renames a workspace's submission, unless the new name is empty or taken, and
// returns the submission under the new name.
func renameHandin(tx *transaction, ws Workspace, code, from, to string) (h numbered) {
	if from == to || to == "" {
		return h
	}
	if h = findHandin(tx, ws, code, to); h.Run != "" {
		return h
	}
	if h = findHandin(tx, ws, code, from); h.Run == "" {
		return h
	}
	tx.exec(`UPDATE handins SET name = ? WHERE run = ?`, to, h.Run)
	tx.exec(`UPDATE runs SET name = ? WHERE id = ?`, to, h.Run)
	h.Name, h.Anonymous = to, false
	return h
}

func listHandins(tx *transaction, ws Workspace, code string) []Handin {
	list := listOf(tx, scanHandin, handins+` ORDER BY created DESC, runs.rowid DESC`, code, ws)
	return lists.Map(list, func(h numbered) Handin { return h.Handin })
}
