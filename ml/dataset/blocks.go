package dataset

import (
	"iter"
	"runtime"
)

// blockSize is the approximate number of bytes that a goroutine scans at a time. The result of a
// block fits the cache of a processor and takes little memory beside the text.
const blockSize = 8 << 10

// mostAhead limits the goroutines that scan. The one that collects their results takes about as
// long as one of them, so more would only wait, each with a block in memory.
const mostAhead = 2

// record holds the fields of one record.
type record[F any] struct {
	line   int // on which it begins, from 1
	fields []F
	count  int // number of fields, including those not kept
}

// block holds the records of a part of a file, with their fields one after the other.
type block[F any] struct {
	fields  []F
	records []struct{ line, count, end int } // end: in fields
	lines   int
}

// end ends a record after its fields have been appended.
func (b *block[F]) end(line, count int) {
	b.records = append(b.records, struct{ line, count, end int }{line, count, len(b.fields)})
}

// inBlocks iterates over the records of text from the offset from, where the line with the given
// number begins. Goroutines scan blocks of whole lines; scan gets the text up to the end of a
// block.
func inBlocks[F any](text string, from, line int, scan func(b *block[F], text string, from int)) iter.Seq[record[F]] {
	return func(yield func(record[F]) bool) {
		ends, before := cutBlocks(text, from), line-1
		for b := range inOrder(len(ends)-1, func(k int, b block[F]) block[F] {
			b.fields, b.records, b.lines = b.fields[:0], b.records[:0], 0
			scan(&b, text[:ends[k+1]], ends[k])
			return b
		}) {
			from := 0
			for _, r := range b.records {
				if !yield(record[F]{before + r.line, b.fields[from:r.end], r.count}) {
					return
				}
				from = r.end
			}
			before += b.lines
		}
	}
}

// cutBlocks cuts text from the offset from into blocks that end at line ends, and returns from and
// the ends of the blocks.
func cutBlocks(text string, from int) []int {
	ends := []int{from}
	for len(text)-from > blockSize {
		_, rest := cutLine(text[from+blockSize:])
		from = len(text) - len(rest)
		ends = append(ends, from)
	}
	return append(ends, len(text))
}

// inOrder iterates over the values of scan for k from 0 to n-1, computed ahead by goroutines. Each
// call gets a previously yielded value to reuse, or a zero value. A panic in scan continues in the
// goroutine of the caller, which may recover.
func inOrder[T any](n int, scan func(k int, again T) T) iter.Seq[T] {
	type scanned struct {
		value    T
		panicked any
	}
	return func(yield func(T) bool) {
		coming := make(chan chan scanned, min(runtime.GOMAXPROCS(0), mostAhead)+1) // in order
		var again T
		for next := 0; next < n || len(coming) > 0; {
			if next < n && len(coming) < cap(coming) {
				one := make(chan scanned, 1)
				go func(k int, again T) {
					var s scanned
					defer func() {
						s.panicked = recover()
						one <- s
					}()
					s.value = scan(k, again)
				}(next, again)
				coming <- one
				next++
				var none T
				again = none
				continue
			}
			s := <-<-coming
			if s.panicked != nil {
				panic(s.panicked)
			}
			if again = s.value; !yield(again) {
				return
			}
		}
	}
}

// sideBySide calls do for the numbers from 0 to n-1, in several goroutines.
func sideBySide(n int, do func(k int)) {
	for range inOrder(n, func(k int, _ struct{}) struct{} { do(k); return struct{}{} }) {
	}
}

// inParts calls do for parts of n rows, several at a time if there are many.
func inParts(n int, do func(from, to int)) {
	sideBySide((n+manyRows-1)/manyRows, func(k int) { do(k*manyRows, min((k+1)*manyRows, n)) })
}
