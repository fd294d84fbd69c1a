//go:build map

package svm

import (
	"fmt"
	"testing"
)

// TestWholeMap compares the cells for 5000 to 20 000 points, which takes some ten minutes:
//
//	go test -tags map -timeout 0 -run TestWholeMap ./ml/svm
//
// With -map it prints lines for the committed table.
func TestWholeMap(t *testing.T) {
	for _, n := range []int{5000, 10000, 20000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { compareMap(t, n) })
	}
}
