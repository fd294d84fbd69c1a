//go:build !linux && !darwin && !freebsd

package store

import "errors"

// diskSpace is not supported on this system.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
