package limiter

import (
	"context"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/web"
)

// Large work shares largeMemory bytes, waits for at most largeWait for its part of them,
// and for so many bytes more than smallMemory only.
const (
	largeMemory = 256 << 20
	smallMemory = 1 << 20
	largeWait   = 40 * time.Second
)

// Memory is the room for what is large.
type Memory struct {
	Room     *semaphore.Weighted
	unpacked int64 // the most that a packed file unfolds to
}

// NewMemory returns the memory of a server, whose packed files unfold to so many bytes at most.
func NewMemory(unpacked int64) *Memory { return &Memory{semaphore.NewWeighted(largeMemory), unpacked} }

// Admit waits until there is room for about so many bytes in memory, which leave gives
// back, first come first served. What is small need not wait. After some time it gives up
// with an error for the person who asked.
func (m *Memory) Admit(ctx context.Context, w http.ResponseWriter, bytes int64) (leave func(), err error) {
	if bytes <= smallMemory {
		return func() {}, nil
	}
	bytes = min(bytes, largeMemory)
	limited, cancel := context.WithTimeout(ctx, largeWait)
	defer cancel()
	if err := m.Room.Acquire(limited, bytes); err != nil {
		if ctx.Err() == nil {
			w.Header().Set("Retry-After", "30")
			err = web.Errorf(web.Busy, "Many large files are being read at the moment, and there was no turn for this one within %.0f seconds. Nothing was saved; try again in half a minute.", largeWait.Seconds())
		}
		return nil, err
	}
	return func() { m.Room.Release(bytes) }, nil
}

// AdmitFile is Admit for a file of so many bytes, to be read and stored. A value of one digit
// with the separator behind it takes two bytes there; as text and as a number, twelve. A packed
// file may unfold to what is the most of any, and graphs in it take three times as much.
func (m *Memory) AdmitFile(ctx context.Context, w http.ResponseWriter, size int64, packed bool) (leave func(), err error) {
	if packed {
		size = 3 * m.unpacked
	}
	return m.Admit(ctx, w, 6*size)
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
func (m *Memory) AdmitData(ctx context.Context, w http.ResponseWriter, set store.Dataset) (leave func(), err error) {
	columns := set.Dims()
	if set.Kind == dataset.KindPrecomputed {
		columns = set.Rows
	}
	return m.Admit(ctx, w, 16*int64(set.Rows)*int64(columns)) // for a moment twice
}
