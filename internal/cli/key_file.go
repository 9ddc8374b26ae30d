package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/rights"
	"pushbox/internal/terminal"
	"pushbox/store/seal"
)

func (a *app) keyGenerate() *cobra.Command {
	return &cobra.Command{
		Use:   "generate FILE",
		Short: "Make a master key for a new server",
		Long: `Make a master key in a new FILE that only its owner can read, for a server that has no
database yet: for platforms that hand the key to it, such as Kubernetes. An existing
file is never replaced. "pushbox serve" makes its key by itself; to replace the key of a
server, use "pushbox key rotate".`,
		Example: `  pushbox key generate master.key
  kubectl create secret generic pushbox-key --from-file=master.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := seal.CreateKeyFile(args[0])
			switch {
			case errors.Is(err, fs.ErrExist):
				return hint.With(fmt.Errorf("the key file %s exists already", args[0]), "name a file that does not exist yet")
			case err != nil:
				return fmt.Errorf("make the key file %s: %w", args[0], err)
			}
			return a.done(nil, "made the key file %s (ID %s): keep a copy of it, and never lose it; without it nothing can be read", args[0], key.ID())
		},
	}
}

func (a *app) keyExport() *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the master key in a form for paper",
		Long: `Write the master key in a form that you can print, keep in a safe and type in again:
four lines with a checksum each, so that ` + "`pushbox key import`" + ` finds a mistyped line.
The command first compares the key with the database's.

The key goes to standard output: pipe it to a printer. Without --force the command does
not show it on a terminal, which keeps what it shows.`,
		Example: `  pushbox key export | lp
  pushbox key export -o /media/usb/pushbox-key.txt`,
		RunE: a.configured(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			if file == "" && !force {
				if err := a.refuseOnlookers(); err != nil {
					return err
				}
			}
			key, err := instance.ReadKey(cfg)
			if err == nil {
				err = a.compareKey(cmd.Context(), cfg, key)
			}
			if err != nil {
				return err
			}
			if file == "" {
				_, err = a.stdout.Write(key.Paper())
				return err
			}
			err = rights.Beside(file, func() error { return nameAnother(durable.NewFile(file, key.Paper())) })
			return a.done(err, "wrote the master key (ID %s) to %s: keep it apart from the database", key.ID(), file)
		}),
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write it to a new `FILE`, for its owner alone")
	cmd.Flags().BoolVar(&force, "force", false, "show it on a terminal, or write it to a file that others can read")
	return cmd
}

const othersFile = 0o077 // permissions of group and others

// refuseOnlookers refuses to write a secret to a place where other people may see it.
func (a *app) refuseOnlookers() error {
	if terminal.Is(a.stdout) {
		return hint.With(errors.New("standard output is a terminal, which would keep the key on the screen and in its memory"),
			"pipe it to a printer, such as `pushbox key export | lp`, or name a file with -o; --force shows it here")
	}
	f, ok := a.stdout.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return nil
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Mode()&othersFile != 0 {
		return hint.With(fmt.Errorf("standard output is a file that other users can read (mode %04o)", info.Mode().Perm()),
			"use -o FILE instead of > FILE: only you can then read the file")
	}
	return nil
}

const (
	maxKeyText    = 64 << 10 // bytes
	keyFilePrefix = "pushbox-key-"
)

func (a *app) keyImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import [FILE|-]",
		Short: "Restore the key file from a key on paper",
		Long: `Make the key file from the output of ` + "`pushbox key export`" + `: in FILE, on standard input
(-), or typed in line by line. FILE may be a key file, too. The key is compared with
the database's, if there is one. An existing key file is never replaced.`,
		Example: `  pushbox key import
  pushbox key import /media/usb/pushbox-key.txt --data-dir /var/lib/pushbox`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return nil
			}
			return arguments("FILE")(cmd, given)
		},
		RunE: a.configured(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			path, err := a.importTarget(cfg)
			if err != nil {
				return err
			}
			key, err := a.typedKey(cmd.Context(), args)
			if err != nil {
				return advise(err, knownHint{seal.ErrKey, "compare what you typed with the paper, and try again"})
			}
			return a.importKey(cmd.Context(), cfg, key, path)
		}),
	}
}

// importTarget returns the path of the new key file. It must not exist.
func (a *app) importTarget(cfg config.Config) (string, error) {
	keeper := instance.RootKeeper(cfg, a.environ)
	if keeper.File == "" {
		return "", hint.With(fmt.Errorf("the master key comes from %s, not from a file that this command could make", keeper.Fixed),
			"name another with master_key_file, such as PUSHBOX_MASTER_KEY_FILE=FILE")
	}
	path := cfg.KeyFile()
	err := rights.Beside(path, func() error { _, err := os.Lstat(path); return err })
	if err == nil {
		return "", hint.With(fmt.Errorf("the key file %s exists already, and is not replaced", path),
			"if it is the right one, there is nothing to do; otherwise move it away first")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// importKey makes the key file, and the data directory if the file belongs there.
func (a *app) importKey(ctx context.Context, cfg config.Config, key seal.RootKey, path string) error {
	if err := a.compareKey(ctx, cfg, key); err != nil {
		return err
	}
	if filepath.Dir(path) == filepath.Clean(cfg.DataDir) {
		if _, err := instance.MakeDir(cfg.DataDir); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	if err := seal.KeepKeyFile(path, key); err != nil {
		return fmt.Errorf("make the key file %s: %w", path, err)
	}
	return a.done(nil, "made the key file %s (ID %s)", path, key.ID())
}

// typedKey reads the key from the file in args (-: standard input), or asks for it.
func (a *app) typedKey(ctx context.Context, args []string) (key seal.RootKey, err error) {
	var text []byte
	switch {
	case len(args) == 1 && args[0] == "-":
		text, err = io.ReadAll(io.LimitReader(a.console.in, maxKeyText)) // what is longer is no key
	case len(args) == 1:
		text, err = rights.Read(args[0], func() ([]byte, error) { return durable.ReadBounded(args[0], maxKeyText) })
	case a.console.terminal:
		text, err = a.console.paper(ctx)
	default:
		return key, hint.With(usagef("there is no terminal to type the key on"), "name a FILE, or - for standard input")
	}
	if err != nil {
		return key, fmt.Errorf("read the key: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), keyFilePrefix) {
			return seal.ParseRootKey(text)
		}
	}
	return seal.ParsePaper(text)
}

// paper asks for each line of a paper form until the line is right.
func (c *console) paper(ctx context.Context) ([]byte, error) {
	return talk(ctx, c, func(t *term.Terminal) (text []byte, err error) {
		_, err = io.WriteString(t, "Type the four lines of the paper, each with its last group. Ctrl-C stops.\n")
		for n := 1; err == nil && n <= seal.PaperLines; {
			t.SetPrompt(fmt.Sprintf("%d: ", n))
			line, err := t.ReadLine()
			if err != nil {
				return nil, err
			}
			if wrong := seal.CheckPaperLine(n, line); wrong != nil {
				if _, err := io.WriteString(t, wrong.Error()+"; type it again\n"); err != nil {
					return nil, err
				}
				continue
			}
			if _, rest, numbered := strings.Cut(line, ":"); numbered {
				line = rest
			}
			text = fmt.Appendf(text, "%d: %s\n", n, line)
			n++
		}
		return text, err
	})
}
