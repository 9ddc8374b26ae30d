// Package sdnotify reports the state of the process to the service manager: systemd, or
// another one that puts NOTIFY_SOCKET into the environment (sd_notify(3)).
//
// The protocol is a short datagram to a socket. It needs less code than to keep a
// library from reading the environment by itself.
package sdnotify

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"pushbox/internal/environ"
)

// A Notifier sends messages to a service manager. The zero value has none: its methods
// do nothing.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// patience is how long a service manager may take to read a message.
const patience = time.Second

// From returns the Notifier that the environment asks for; variables are as os.Environ
// returns them. An error names the variable that is wrong; the Notifier works
// without it.
func From(variables []string) (n Notifier, err error) {
	vars := environ.Map(variables)
	n.socket = vars["NOTIFY_SOCKET"]
	if n.socket == "" {
		return Notifier{}, nil
	}
	if n.socket[0] != '/' && n.socket[0] != '@' {
		return Notifier{}, errors.New("NOTIFY_SOCKET is neither an absolute path nor an abstract socket: no service manager is notified")
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
		return n, errors.New("WATCHDOG_USEC is not a number of microseconds: the watchdog gets no messages")
	}
	n.watchdog = time.Duration(usec) * time.Microsecond
	return n, nil
}

// Watchdog is how long the service manager waits for the next Alive before it ends the
// process; 0: for ever.
func (n Notifier) Watchdog() time.Duration { return n.watchdog }

// Ready says that the process serves, or serves again after Reloading.
func (n Notifier) Ready() error { return n.send("READY=1") }

// Stopping says that the process is about to end.
func (n Notifier) Stopping() error { return n.send("STOPPING=1") }

// Alive says that the process works.
func (n Notifier) Alive() error { return n.send("WATCHDOG=1") }

// Reloading says that the process reads its configuration again. Ready must follow,
// whether that succeeds or fails.
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
		return fmt.Errorf("notify the service manager: %w", err)
	}
	defer c.Close()
	err = c.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = c.Write([]byte(message))
	}
	if err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}
