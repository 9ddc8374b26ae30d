// Package sdnotify tells the service manager how the process is: systemd, or
// whatever else puts NOTIFY_SOCKET into the environment (sd_notify(3)).
//
// The protocol is a datagram of a few words to a socket, which is less than it
// would take to hand a library the environment that it reads by itself.
package sdnotify

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Notifier sends messages to a service manager. The zero value has none to
// send to: its methods do nothing.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// patience is how long a service manager may take to read a message.
const patience = time.Second

// From returns what the environment asks for, which is as os.Environ returns it.
// An error says what of it cannot be; what can be is returned with it.
func From(environ []string) (n Notifier, err error) {
	vars := make(map[string]string)
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	n.socket = vars["NOTIFY_SOCKET"]
	if n.socket == "" {
		return Notifier{}, nil
	}
	if n.socket[0] != '/' && n.socket[0] != '@' {
		return Notifier{}, errors.New("NOTIFY_SOCKET is neither a path from the root nor an abstract socket: nobody is told that the server is ready")
	}
	if pid := vars["WATCHDOG_PID"]; pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return n, nil // it is meant for another process
	}
	text := vars["WATCHDOG_USEC"]
	if text == "" {
		return n, nil
	}
	usec, err := strconv.ParseInt(text, 10, 64)
	if most := int64(1<<63-1) / int64(time.Microsecond); err != nil || usec <= 0 || usec > most {
		return n, errors.New("WATCHDOG_USEC is not a number of microseconds: the watchdog is not fed")
	}
	n.watchdog = time.Duration(usec) * time.Microsecond
	return n, nil
}

// Watchdog is how long the service manager waits for the next Alive before it
// ends the process; 0: for good.
func (n Notifier) Watchdog() time.Duration { return n.watchdog }

// Ready says that the process serves, or serves again after Reloading.
func (n Notifier) Ready() error { return n.send("READY=1") }

// Stopping says that the process is about to end.
func (n Notifier) Stopping() error { return n.send("STOPPING=1") }

// Alive says that the process does what it should.
func (n Notifier) Alive() error { return n.send("WATCHDOG=1") }

// Reloading says that the process reads its configuration again. Ready follows,
// whatever comes of it.
func (n Notifier) Reloading() error {
	usec, err := monotonic()
	if err != nil {
		return err
	}
	return n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(usec, 10))
}

func (n Notifier) send(message string) error {
	if n.socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	defer c.Close()
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	if _, err := c.Write([]byte(message)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	return nil
}
