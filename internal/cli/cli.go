// Package cli is the command line of pushbox.
//
// Data goes to standard output, everything else to standard error. Commands return errors.
// Main prints an error with a hint, and returns its exit code.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Main runs the command in args, which do not begin with the name of the program. It returns
// the exit code:
//
//	0   done
//	1   failed
//	2   wrong usage
//	3   check or doctor found problems, or an import left something out
//	75  the database is in use
//
// It ends early when ctx does. environ is as os.Environ returns it.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	return newApp(stdin, stdout, stderr, environ).run(ctx, args, stdin)
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, environ []string) *app {
	a := &app{stdout: stdout, stderr: stderr, environ: environ, console: newConsole(stdin, stderr), pause: pause}
	if runtime.GOOS != "windows" { // on Windows, any user could create \etc\pushbox\config.yaml
		a.packaged = packagedFile
	}
	return a
}

// packagedFile is the settings file of a packaged service.
const packagedFile = "/etc/pushbox/config.yaml"

// run is Main.
func (a *app) run(ctx context.Context, args []string, stdin io.Reader) int {
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // not nil: cobra would then use those of the process
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(cmd, err)
}

// An app is one run of a command.
type app struct {
	stdout, stderr io.Writer
	environ        []string
	console        *console
	configFile     string // --config
	packaged       string // settings file to use if none is named and it is there; empty: none
	toldPackaged   bool   // the user was told that the packaged file is used
	example        string // the settings file that config init writes
	pause          func(context.Context, time.Duration) error
}

// pause returns after a wait, or errInterrupted when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-t.C:
		return nil
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "pushbox",
		Short: "Share secrets that vanish",
		Long: `pushbox is a server for sharing secrets that vanish: a push expires after a
number of views or days, whichever comes first. It is a client, too: push, get
and expire work with any pushbox server, and with Password Pusher.

Commands that deal with accounts, the database and its key work with a running
server and without one.`,
		Example: `  pushbox serve
  pushbox user add alice@example.com
  pushbox token create alice@example.com --name laptop
  pushbox push --url https://push.example.com secret.pdf
  pushbox get https://push.example.com/p/TOKEN`,
		Args:              noSubcommand,
		Version:           fullVersion(), // for --version
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	// A command with commands of its own does nothing without one of them.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	root.SetVersionTemplate("pushbox {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "read settings from `FILE` (default: "+packagedFile+", if it is there and no data directory is named)")
	flags.String(dataDirFlag, "", "keep the database in `DIR` (the setting data_dir)")
	root.SetFlagErrorFunc(flagError)
	section(root, "Run a server:", a.serve(), a.reload(), a.healthcheck(), a.doctor(),
		group("config", "Make, check and show the configuration", a.configInit(), a.configCheck(), a.configPrint()))
	section(root, "Accounts and notifications:", a.user(),
		group("token", "Manage API tokens", a.tokenCreate(), a.tokenList(), a.tokenRevoke()),
		group("webhook", "Manage webhooks, which report what happens to the pushes of an account",
			a.webhookAdd(), a.webhookList(), a.webhookRemove(), a.webhookTest()),
		group("mail", "Test whether mail can be sent", a.mailTest()))
	section(root, "Manage the data:", a.backup(), a.restore(), a.check(), a.compact(), a.purge(), a.move(),
		group("key", "Keep, move and replace the master key", a.keyGenerate(), a.keyShow(), a.keyCertificate(), a.keyExport(), a.keyImport(), a.keyRotate()),
		a.events(), group("import", "Take over from Password Pusher", a.importPasswordPusher(), a.importSettings()))
	section(root, "Push and retrieve, with any server:", a.push(), a.get(), a.expire(), a.answers())
	addTo(root, a.version(), a.verify(), a.completion())
	return root
}

// section adds commands under a heading of the help.
func section(root *cobra.Command, heading string, subs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading})
	for _, sub := range subs {
		sub.GroupID = heading
	}
	addTo(root, subs...)
}

// group returns a command that only groups others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return usagef("%s needs a command", cmd.CommandPath()) },
	}
	addTo(cmd, subs...)
	return cmd
}

// Run runs the command that this process was started for and returns its exit code. example
// is a settings file with every setting, for config init. The
// first interrupt or SIGTERM has the command finish its work and stop; at the second one
// Run returns 1 at once, while the command still runs, so the caller must exit. It
// handles both itself because a shell may start a process with these signals ignored.
func Run(example string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	a.example = example
	ended := make(chan int, 1)
	go func() { ended <- a.run(ctx, os.Args[1:], os.Stdin) }()
	for range 2 {
		select {
		case code := <-ended:
			return code
		case <-signals:
			cancel()
		}
	}
	return 1
}
