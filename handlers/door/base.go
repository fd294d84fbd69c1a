// Package door holds what all front doors over HTTP share: the frame of a page,
// the form of a training, the source of its points, pictures, numbers and
// downloads, and what a course fixes on a page.
package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/sync/semaphore"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Base holds what all handlers share.
type Base struct {
	Store  *store.Store
	Jobs   *jobs.Queue
	Assets *web.Assets
	Limits dataset.Limits // of uploads
	Links  web.Links      // that people hand on

	// Fetcher gets files that people name by their address; nil: none are fetched.
	Fetcher *web.Fetcher

	// Patience is how long a computation may hold up a page; what takes longer is
	// saved as a run.
	Patience time.Duration

	// Answers limits live answers, Pages what pages compute.
	Answers, Pages *Limiter

	Paths  *Background[ml.Regularisation] // over C
	Senses *Background[ml.Sensitivity]    // what would change results

	// Memory has room for what is large, see Admit.
	Memory *semaphore.Weighted

	// Days is after how many without use a workspace is deleted, which pages tell; 0: never.
	Days int

	places   places                 // of runs in the queue
	codes    *codes                 // of courses, that are tried
	build    func() string          // names the program, on which pictures depend
	prints   *Recent[*Print]        // by format and key
	hashes   *Recent[string]        // of data that come with the program or are generated
	stored   *Recent[*dataset.Data] // by hash, in the lab every move of a slider asks for them
	compared *Recent[*ml.Compared]  // by data and kernel: 720 kB each at most
}

// NewBase returns a Base; build is as in web.Program.
func NewBase(st *store.Store, queue *jobs.Queue, assets *web.Assets, limits dataset.Limits, links web.Links, patience time.Duration, build func() string) *Base {
	return &Base{
		Store: st, Jobs: queue, Assets: assets, Limits: limits, Links: links, Patience: patience,
		Answers: NewLimiter(Places()), Pages: NewLimiter(max(2, runtime.NumCPU())), Memory: semaphore.NewWeighted(largeMemory),
		codes: newCodes(), build: build, prints: newPrints(), hashes: NewRecent[string](len(dataset.Builtins) + 100),
		stored: NewWeighed(storedValues, valuesOf), compared: NewRecent[*ml.Compared](64), Paths: newBackground("path", ml.Regularise, queue.Behind), Senses: newBackground("sensitivity", ml.Sense, queue.Behind),
	}
}

// storedValues is how many values of stored data are kept in memory, 8 bytes each and as much
// again for what belongs to them.
const storedValues = 4 << 20

// valuesOf is how many values data have. Objects that are no vectors may be of any size: of
// those two are kept.
func valuesOf(d *dataset.Data) int {
	if d.X == nil {
		return storedValues / 2
	}
	rows, columns := d.X.Dims()
	return rows * (columns + 1)
}

// Compare is ml.Compare for data with a hash, which pictures of them share.
func (a *Base) Compare(hash string) func(context.Context, kernel.Kernel, *dataset.Data) (*ml.Compared, error) {
	return func(ctx context.Context, k kernel.Kernel, d *dataset.Data) (*ml.Compared, error) {
		name, err := k.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return Within(ctx, a.Patience, "Take a kernel whose values are quicker, or smaller objects.", func(ctx context.Context) (*ml.Compared, error) {
			return a.compared.Get(ctx, hash+string(name), func(ctx context.Context) (*ml.Compared, error) { return ml.Compare(ctx, k, d) })
		})
	}
}

// Large work shares largeMemory bytes, waits for at most largeWait for its part of them,
// and for so many bytes more than smallMemory only.
const (
	largeMemory = 256 << 20
	smallMemory = 1 << 20
	largeWait   = 40 * time.Second
)

// Admit waits until there is room for about so many bytes in memory, which leave gives
// back, first come first served. What is small need not wait. After some time it gives up
// with an error for the person who asked.
func (a *Base) Admit(ctx context.Context, w http.ResponseWriter, bytes int64) (leave func(), err error) {
	if bytes <= smallMemory {
		return func() {}, nil
	}
	bytes = min(bytes, largeMemory)
	limited, cancel := context.WithTimeout(ctx, largeWait)
	defer cancel()
	if err := a.Memory.Acquire(limited, bytes); err != nil {
		if ctx.Err() == nil {
			w.Header().Set("Retry-After", "30")
			err = web.Errorf(web.Busy, "Many large files are being read at the moment, and there was no turn for this one within %.0f seconds. Nothing was saved; try again in half a minute.", largeWait.Seconds())
		}
		return nil, err
	}
	return func() { a.Memory.Release(bytes) }, nil
}

// AdmitFile is Admit for a file of so many bytes, to be read and stored. A value of one digit
// with the separator behind it takes two bytes there; as text and as a number, twelve. A packed
// file may unfold to what is the most of any, and graphs in it take three times as much.
func (a *Base) AdmitFile(ctx context.Context, w http.ResponseWriter, size int64, packed bool) (leave func(), err error) {
	if packed {
		size = 3 * a.Limits.Bytes
	}
	return a.Admit(ctx, w, 6*size)
}

// IsPacked tells a zip archive, as workbooks are, and what gzip has packed by its beginning.
func IsPacked(f io.ReadSeeker) (bool, error) {
	var head [2]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return Packed(head[:n]), err
}

// Packed tells from the first two bytes of a file what IsPacked does.
func Packed(head []byte) bool { return string(head) == "PK" || string(head) == "\x1f\x8b" }

// AdmitData is Admit for stored data.
func (a *Base) AdmitData(ctx context.Context, w http.ResponseWriter, set store.Dataset) (leave func(), err error) {
	columns := set.Dims()
	if set.Kind == dataset.KindPrecomputed {
		columns = set.Rows
	}
	return a.Admit(ctx, w, 16*int64(set.Rows)*int64(columns)) // for a moment twice
}

// OriginOf tells where data came from, and what reading them made of the file.
func OriginOf(from string, d *dataset.Data) string {
	return strings.Join(append([]string{from}, d.Notes...), "; ")
}

// Late is why work was given up that outlasted the patience with it.
type Late struct{ Patience time.Duration }

func (l Late) Error() string {
	return fmt.Sprintf("This takes longer than %.3g seconds.", l.Patience.Seconds())
}

// Within does work as long as patience lasts. Work that takes longer is
// refused as Late with the remedy; a fault that comes as the patience ends is a fault.
func Within[T any](ctx context.Context, patience time.Duration, remedy string, work func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := work(limited)
	switch {
	case ctx.Err() != nil: // what was computed by then is nothing to show
		err = ctx.Err()
	case limited.Err() != nil && (err == nil || errors.Is(err, limited.Err())):
		err = web.Errorf(web.Busy, "%w %s", Late{patience}, remedy)
	}
	return v, err
}

// Enqueue stores a run to be trained in the background, unless its spec does not
// fit its points.
func (a *Base) Enqueue(ctx context.Context, n store.NewRun) (store.Run, error) {
	if err := ml.Check(n.Data, n.Spec); err != nil {
		return store.Run{}, err
	}
	run, err := a.Store.CreateRun(ctx, Workspace(ctx), n)
	if err == nil {
		a.Jobs.Notify()
	}
	return run, err
}

// EnqueueHandin is Enqueue for a run that is handed in under a name by the same act.
func (a *Base) EnqueueHandin(ctx context.Context, n store.NewRun, name string) (store.Run, error) {
	if err := ml.Check(n.Data, n.Spec); err != nil {
		return store.Run{}, err
	}
	run, err := a.Store.CreateHandin(ctx, Workspace(ctx), n, name)
	if err == nil {
		a.Jobs.Notify()
	}
	return run, err
}

// Frame fills in what every page shares.
func (a *Base) Frame(title, section string) views.Page {
	return views.Page{Title: title, Section: section, Static: a.Assets.Prefix(), Days: a.Days}
}

// ProgramName names the running program, on which what it draws and exports depends.
func (a *Base) ProgramName() string { return a.build() }

// Render writes a page. templ holds it back until it is whole, so an error on the
// way is still answered as one.
func (a *Base) Render(w http.ResponseWriter, r *http.Request, c templ.Component) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return c.Render(r.Context(), w)
}

// Workspace is the one that the request came with.
func Workspace(ctx context.Context) store.Workspace { return store.WorkspaceOf(web.Token(ctx)) }

// Redirect answers a form: the browser goes on to a page.
func Redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// When is a moment for reading.
func When(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
