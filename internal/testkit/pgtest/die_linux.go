package pgtest

import "syscall"

// dieWithParent has the system end the server with this process.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
