//go:build !load

package handlers_test

import "time"

const (
	randomRequests = 400
	randomSeeds    = 1
	slowest        = time.Hour // how long an answer takes here says how busy the machine is

	bombEach      = false
	unpackedBytes = 12 << 20 // of a bomb that is packed
)
