package dataset

import (
	"iter"
	"runtime"
)

// blockSize is about the number of bytes that one goroutine scans at a time: what it makes of them
// stays in the cache of a processor, and takes little memory beside the text.
const blockSize = 8 << 10

// mostAhead bounds how many goroutines scan: the one that takes over what they found needs about as
// long as one of them, so that more would wait for it, and each has a block in memory.
const mostAhead = 2

// cutBlocks cuts a text at ends of lines into blocks.
func cutBlocks(text string) (blocks []string) {
	for len(text) > blockSize {
		_, rest := cutLine(text[blockSize:])
		blocks = append(blocks, text[:len(text)-len(rest)])
		text = rest
	}
	return append(blocks, text)
}

// inOrder iterates over the values of scan for the numbers from 0 to n-1, which goroutines compute
// ahead. Each gets a value to use again that has been yielded before, or a zero one. A panic of
// scan goes on in the goroutine of the caller, who may recover from it.
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
