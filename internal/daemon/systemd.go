package daemon

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/environ"
	"pushbox/internal/hint"
)

// firstSocket is the first descriptor that systemd passes (sd_listen_fds(3)).
const firstSocket = 3

const maxSockets = 1000

const unnamed = "unknown"

// The variables in which systemd describes its sockets.
const (
	socketsFor   = "LISTEN_PID"
	socketsCount = "LISTEN_FDS"
	socketNames  = "LISTEN_FDNAMES"
)

// sockets are the listeners that systemd has opened for this process, by name. Several may
// have the same name.
type sockets struct {
	byName  map[string][]net.Listener
	order   []string
	pid     int
	foreign bool // the sockets are for another process than pid
}

// socketsOf returns the sockets that the environment describes. Their descriptors begin with
// first. The protocol is that of sd_listen_fds_with_names(3). The caller closes the sockets
// that it does not take.
func socketsOf(vars []string, pid, first int) (*sockets, error) {
	s := &sockets{byName: make(map[string][]net.Listener), pid: pid}
	told := environ.Map(vars)
	if told[socketsCount] == "" {
		return s, nil
	}
	if told[socketsFor] != strconv.Itoa(pid) {
		s.foreign = true
		return s, nil
	}
	count, err := strconv.Atoi(told[socketsCount])
	if err != nil || count < 0 || count > maxSockets {
		return nil, fmt.Errorf("%s is not a number of sockets from 0 to %d", socketsCount, maxSockets)
	}
	names := slices.Repeat([]string{unnamed}, count)
	if list, ok := told[socketNames]; ok && count > 0 {
		names = strings.Split(list, ":")
	}
	if len(names) != count {
		return nil, fmt.Errorf("%s names %d sockets, but %s says that there are %d", socketNames, len(names), socketsCount, count)
	}
	for i, name := range names {
		if err := s.add(name, first+i); err != nil {
			s.closeRest()
			return nil, hint.With(fmt.Errorf("the socket %q of systemd: %w", name, err), "give the socket unit ListenStream=, without Accept=yes")
		}
	}
	return s, nil
}

// add makes a listener of a descriptor, and closes that: the listener has a descriptor of its
// own, which child processes do not inherit.
func (s *sockets) add(name string, fd int) error {
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	if err := takesConnections(f); err != nil {
		return err
	}
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	if l.Addr().Network() == "unix" {
		l = localListener{l}
	}
	if !slices.Contains(s.order, name) {
		s.order = append(s.order, name)
	}
	s.byName[name] = append(s.byName[name], l)
	return nil
}

// take returns the listeners of a name. The caller owns them.
func (s *sockets) take(name string) ([]net.Listener, error) {
	if all := s.byName[name]; len(all) > 0 {
		delete(s.byName, name)
		return all, nil
	}
	const socket = "pass a socket of this name: FileDescriptorName= in the socket unit, or the unit's own name where that is not set"
	switch {
	case s.foreign:
		return nil, hint.With(fmt.Errorf("systemd passed its sockets to another process: %s is not %d", socketsFor, s.pid),
			"let systemd start pushbox itself, or a program that becomes pushbox by exec")
	case len(s.order) == 0:
		return nil, hint.With(fmt.Errorf("systemd passed no socket, so there is none named %q", name),
			"start the socket unit, which starts the service; outside systemd choose another address")
	default:
		return nil, hint.With(fmt.Errorf("systemd passed no socket named %q; it passed: %s", name, strings.Join(s.order, ", ")), socket)
	}
}

// closeRest closes the sockets that were not taken, and returns their names.
func (s *sockets) closeRest() (names []string) {
	for _, name := range s.order {
		for _, l := range s.byName[name] {
			_ = l.Close() // systemd still has it
		}
		if len(s.byName[name]) > 0 {
			names = append(names, name)
		}
	}
	clear(s.byName)
	return names
}

// forgetSockets removes the variables from the environment: child processes do not have the
// sockets.
func forgetSockets() {
	for _, name := range []string{socketsFor, socketsCount, socketNames} {
		_ = os.Unsetenv(name) // no error with these names
	}
}
