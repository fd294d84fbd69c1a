//go:build !cgo

package store

// explain does not compile, so that a build without a C compiler fails with the remedy.
func explain(error) error {
	return "Margin Lab needs a C compiler to build SQLite: install gcc or clang, then run this command again with CGO_ENABLED=1"
}
