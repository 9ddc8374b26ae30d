//go:build linux || darwin

package httpd

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsent is how many bytes that the peer has no room for yet the kernel takes
// from us. Left alone it takes megabytes, and lets us go on only when a third of
// them are gone: to a slow reader that is as long as no progress at all.
const unsent = 32 << 10

// limitUnsent keeps what is written to a connection close to what its peer reads.
// Where that cannot be had, a deadline is only less exact.
func limitUnsent(c net.Conn) {
	if tls, ok := c.(interface{ NetConn() net.Conn }); ok { // of package crypto/tls
		c = tls.NetConn()
	}
	tcp, ok := c.(*net.TCPConn)
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
