//go:build load

package handlers_test

import "time"

// How much TestRandomRequests asks with each of some seeds, and how long an answer may
// take. Run it on an idle machine:
//
//	go test -tags load -run TestRandomRequests -v ./handlers
const (
	randomRequests = 5000
	randomSeeds    = 4
	slowest        = 10 * time.Second

	bombEach      = true
	unpackedBytes = 100 << 20 // of a bomb that is packed
)
