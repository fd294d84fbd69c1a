//go:build !race

package handlers_test

const race = false
