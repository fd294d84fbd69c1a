package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LogDamage describes transactions at the end of a write-ahead log that were apparently committed
// but are unreadable: SQLite drops them silently.
type LogDamage struct {
	Frames, Commits int    // dropped; if the log's header is damaged, as many as the file can hold
	Copy            string // path of a copy of the log
}

// String describes it in words.
func (d LogDamage) String() string {
	return fmt.Sprintf("the end of the write-ahead log is damaged: %s were dropped, and the last saves may be missing; the original log is in %s", number(d.Commits, "transaction"), d.Copy)
}

// InspectLog looks for damage in the write-ahead log of the locked directory before the database
// is opened. It first copies a log with a damaged end, so that its contents can be salvaged.
func (l *Lock) InspectLog() (damage LogDamage, err error) {
	path := DatabaseIn(filepath.Dir(l.flock.Path())) + "-wal"
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return damage, nil
	}
	if err != nil {
		return damage, fileError(err)
	}
	defer f.Close()
	if damage, err = readLog(f); err != nil || damage.Frames == 0 {
		return damage, err
	}
	if damage.Copy, err = copyOf(f, path+damagedLog); err != nil || damage.Copy != "" {
		return damage, err
	}
	if damage.Copy, err = unused(path + damagedLog + time.Now().Format("20060102-150405")); err != nil {
		return damage, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return damage, err
	}
	to, err := os.OpenFile(damage.Copy, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return damage, fileError(err)
	}
	_, err = io.Copy(to, f)
	return damage, fileError(errors.Join(err, to.Close()))
}

// copyOf returns a file with the prefix begin and the same content as f, empty if none exists: an
// unchanged log has already been copied.
func copyOf(f *os.File, begin string) (string, error) {
	names, _ := filepath.Glob(begin + "*") // the pattern is valid
	for _, name := range names {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		one, err := io.ReadAll(f) // bounded by the size of a log
		if err != nil {
			return "", fileError(err)
		}
		if other, err := os.ReadFile(name); err == nil && bytes.Equal(one, other) {
			return name, nil
		}
	}
	return "", nil
}

// damagedLog is in the names of copies of damaged logs.
const damagedLog = ".damaged-"

// Sizes of a write-ahead log, as https://sqlite.org/fileformat2.html#walformat defines them.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the last bit: checksums are of big-endian words
)

// readLog counts the frames of committed transactions that SQLite will drop. Frames being written
// when a process died do not count: their transaction was not acknowledged.
func readLog(r io.Reader) (d LogDamage, err error) {
	head := make([]byte, logHeader)
	if _, err := io.ReadFull(r, head); err != nil {
		return d, ignoreEOF(err)
	}
	magic, size := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[8:])
	sum := logSum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(head[:24])
	if size == 1 {
		size = 65536
	}
	good := magic&^1 == logMagic && sum.is(head[24:])
	if size < 512 || size > 65536 || size&(size-1) != 0 {
		size, good = 4096, false
	}
	salts := [8]byte(head[16:])

	frame := make([]byte, frameHeader+size)
	behind, blank := 0, false // frames from the first bad one on, and whether the first bad one is blank
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			// A single frame may be a torn write of the process that died, over an older frame or at the end.
			if d.Commits == 0 || d.Frames == 1 && (behind > 1 || blank) {
				d = LogDamage{}
			}
			return d, ignoreEOF(err)
		}
		ours := [8]byte(frame[8:]) == salts
		if good {
			sum.add(frame[:8])
			sum.add(frame[frameHeader:])
			if good = ours && sum.is(frame[16:]); good {
				continue
			}
			blank = bytes.Count(frame[frameHeader:], []byte{0}) == int(size)
		}
		behind++
		if ours {
			d.Frames++
			if binary.BigEndian.Uint32(frame[4:]) != 0 { // it ends a transaction
				d.Commits++
			}
		}
	}
}

// ignoreEOF maps io.EOF and io.ErrUnexpectedEOF to nil.
func ignoreEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// logSum is the running checksum of a write-ahead log.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// add takes in data of a multiple of eight bytes.
func (s *logSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

// is compares the sum with a stored one.
func (s *logSum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}
