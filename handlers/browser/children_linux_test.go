package browser

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel end a process with the thread that starts it, and
// so with the test, however that ends: by a panic, or killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
