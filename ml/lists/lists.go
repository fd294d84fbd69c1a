// Package lists provides functions that the standard library lacks, nearly all on slices.
package lists

import "slices"

// Make returns f(0), …, f(n-1).
func Make[T any](n int, f func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// Map returns f of every element. The result is never nil.
func Map[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// Filter returns the elements that satisfy f, or nil if none does.
func Filter[T any](list []T, f func(T) bool) (out []T) {
	for _, v := range list {
		if f(v) {
			out = append(out, v)
		}
	}
	return out
}

// Where returns the indices from 0 to n-1 that satisfy f, or nil if none does.
func Where(n int, f func(i int) bool) (indices []int) {
	for i := range n {
		if f(i) {
			indices = append(indices, i)
		}
	}
	return indices
}

// Find returns the first element that satisfies f, if any.
func Find[T any](list []T, f func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, f); i >= 0 {
		return list[i], true
	}
	return found, false
}

// At returns the elements at the given indices, which may repeat.
func At[T any](list []T, indices []int) []T {
	return Map(indices, func(i int) T { return list[i] })
}

// Spaced returns at most n elements, evenly spaced.
func Spaced[T any](list []T, n int) []T {
	n = min(n, len(list))
	return Make(n, func(i int) T { return list[i*len(list)/n] })
}

// Count returns the number of elements that satisfy f.
func Count[T any](list []T, f func(T) bool) (n int) {
	for _, v := range list {
		if f(v) {
			n++
		}
	}
	return n
}

// CountTrue returns the number of true values.
func CountTrue(values ...bool) int {
	return Count(values, func(v bool) bool { return v })
}

// Either returns yes if b, and no otherwise. Both are evaluated.
func Either[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
}
