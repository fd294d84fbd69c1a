package limiter

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/web"
)

// Work that needs more than smallMemory bytes shares largeMemory bytes and waits at most largeWait
// for its part.
const (
	largeMemory = 256 << 20
	smallMemory = 1 << 20
	largeWait   = 40 * time.Second
)

// Memory limits the memory of large work.
type Memory struct {
	Budget   *semaphore.Weighted // bytes
	unpacked int64               // upper bound of the size of an unpacked file
}

// NewMemory returns a Memory; unpacked bounds the size of an unpacked file in bytes.
func NewMemory(unpacked int64) *Memory { return &Memory{semaphore.NewWeighted(largeMemory), unpacked} }

// Admit waits in order of arrival until bytes of memory are free; leave releases them. Small work
// does not wait. After a time limit Admit returns an error for the user.
func (m *Memory) Admit(ctx context.Context, w http.ResponseWriter, bytes int64) (leave func(), err error) {
	if bytes <= smallMemory {
		return func() {}, nil
	}
	bytes = min(bytes, largeMemory)
	limited, cancel := context.WithTimeout(ctx, largeWait)
	defer cancel()
	if err := m.Budget.Acquire(limited, bytes); err != nil {
		if ctx.Err() == nil {
			w.Header().Set("Retry-After", "30")
			err = web.Errorf(web.Busy, "The server is busy with large files: this one waited for %.0f seconds. Nothing was saved; try again in half a minute.", largeWait.Seconds())
		}
		return nil, err
	}
	return func() {
		if bytes > largeMemory/64 {
			runtime.GC() // frees this memory before the next work begins
		}
		m.Budget.Release(bytes)
	}, nil
}

// AdmitFile is Admit for a file of size bytes, to be read and stored. A one-digit value with its
// separator is two bytes in the file and twelve in memory, as text and number. A packed file may
// unpack to the maximum, and graphs in it take three times as much.
func (m *Memory) AdmitFile(ctx context.Context, w http.ResponseWriter, size int64, packed bool) (leave func(), err error) {
	if packed {
		size = 3 * m.unpacked
	}
	return m.Admit(ctx, w, 6*size)
}

// IsPacked reports whether a file starts like a zip archive, such as a workbook, or like gzip.
func IsPacked(f io.ReadSeeker) (bool, error) {
	var head [2]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return Packed(head[:n]), err
}

// Packed is IsPacked for the first two bytes of a file.
func Packed(head []byte) bool { return string(head) == "PK" || string(head) == "\x1f\x8b" }

// AdmitData is Admit for stored data.
func (m *Memory) AdmitData(ctx context.Context, w http.ResponseWriter, set store.Dataset) (leave func(), err error) {
	columns := set.Dims()
	if set.Kind == dataset.KindPrecomputed {
		columns = set.Rows
	}
	return m.Admit(ctx, w, 16*int64(set.Rows)*int64(columns)) // briefly held twice
}
