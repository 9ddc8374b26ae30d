//go:build !linux && !darwin

package httpd

import "net"

// limitUnsent does nothing where the system has no such setting.
func limitUnsent(net.Conn) {}
