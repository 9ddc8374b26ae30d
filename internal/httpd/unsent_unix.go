//go:build linux || darwin

package httpd

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsent is how many bytes the kernel takes from the process before the peer has room for
// them. By default it takes megabytes, and takes more only when a third of them are sent: with
// a slow reader that looks like no progress at all.
const unsent = 32 << 10

// limitUnsent makes writes to a connection keep pace with the reads of its peer. Without it
// the deadlines of progress are less exact.
func limitUnsent(c net.Conn) {
	tcp, ok := innermost(c).(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	})
}
