package admin

import "time"

// The operations that only a server does on itself for those who look after it:
// ErrNoServer where there is none.
var (
	// Examine tells what the server is like.
	Examine = Op[None, Facts]{name: "examine"}
	// Probe makes the path of one request, within the next minute, that the server
	// answers with how it arrived: store.ErrBusy if there are many such paths.
	Probe = Op[None, Path]{name: "probe"}
)

// Facts are what there is to know of a store, and of the process that has it open.
type Facts struct {
	Version  string
	Dumpable string // why the process may leave its memory in a core dump; empty: it does not

	Key      string // where the master key comes from
	KeyFault string // why the next start would fail for its key; empty: it would not

	Clock  time.Time // what the clock says
	Latest time.Time // the greatest time that the database has seen
	Doubt  bool      // the clock jumped while the store was open, and is not believed yet
	Away   bool      // it says that the store was closed for more than a day, and is not believed yet
	Swept  time.Time // when the last sweep ended without an error; zero: none did

	Size, Unused int64 // bytes of the database's file

	CertFrom, CertTo time.Time // when the server's own certificate is good; zero: it has none
}

// A Path is one of a server's.
type Path struct{ Path string }
