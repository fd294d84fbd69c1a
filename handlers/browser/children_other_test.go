//go:build !linux

package browser

import "os/exec"

// dieWithParent does nothing: this system has no way to tie a process to another.
func dieWithParent(*exec.Cmd) {}
