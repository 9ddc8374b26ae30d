package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/store/seal"
)

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
the database's, if there is one. An existing key file is never replaced. If root runs
the command, the key file belongs to the owner of its directory.`,
		Example: `  pushbox key import
  pushbox key import /media/usb/pushbox-key.txt --data-dir /var/lib/pushbox`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return nil
			}
			return arguments("FILE")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			path, err := a.importTarget(loaded.Config)
			if err != nil {
				return err
			}
			key, err := a.typedKey(cmd.Context(), args)
			if err != nil {
				return notTyped(err)
			}
			return a.importKey(cmd.Context(), loaded.Config, key, path)
		},
	}
}

// importTarget returns the path of the new key file. It must not exist.
func (a *app) importTarget(cfg config.Config) (string, error) {
	keeper := instance.RootKeeper(cfg, a.environ)
	if keeper.File == "" {
		return "", hint.With(fmt.Errorf("the master key comes from %s, and not from a file that could be made", keeper.Fixed),
			"name another with master_key_file, such as PUSHBOX_MASTER_KEY_FILE=FILE")
	}
	path := cfg.KeyFile()
	if _, err := os.Lstat(path); err == nil {
		return "", hint.With(fmt.Errorf("the key file %s exists already, and is not replaced", path),
			"if it is the right one, there is nothing to do; otherwise move it away first")
	} else if !errors.Is(err, fs.ErrNotExist) {
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
	if err := instance.GiveToOwnerOf(filepath.Dir(path), path); err != nil {
		return hint.With(fmt.Errorf("the key file %s was made, and still belongs to this user: %w", path, err), "give it to the server's user with chown")
	}
	a.say(fmt.Sprintf("made the key file %s (ID %s)", path, key.ID()))
	return nil
}

// typedKey reads the key from the file in args (-: standard input), or asks for it.
func (a *app) typedKey(ctx context.Context, args []string) (key seal.RootKey, err error) {
	var text []byte
	switch {
	case len(args) == 1 && args[0] == "-":
		text, err = readKeyText(a.console.in)
	case len(args) == 1:
		text, err = durable.ReadBounded(args[0], maxKeyText)
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

// notTyped adds a hint to the error of an incomplete key.
func notTyped(err error) error {
	if errors.Is(err, seal.ErrKey) {
		return hint.With(err, "compare what you typed with the paper, and try again")
	}
	return err
}

func readKeyText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeyText+1))
	if err == nil && len(text) > maxKeyText {
		return nil, fmt.Errorf("%w: it is longer than %s", seal.ErrKey, humanize.Size(maxKeyText))
	}
	return text, err
}

// paper asks for each line of a paper form until the line is right.
func (c *console) paper(ctx context.Context) ([]byte, error) {
	return talk(ctx, c, func(t *term.Terminal) (text []byte, err error) {
		if _, err := io.WriteString(t, "Type the four lines of the paper, each with its last group. Ctrl-C ends it.\n"); err != nil {
			return nil, err
		}
		for n := 1; n <= seal.PaperLines; n++ {
			line, err := askPaperLine(t, n)
			if err != nil {
				return nil, err
			}
			text = fmt.Appendf(text, "%d: %s\n", n, line)
		}
		return text, nil
	})
}

// askPaperLine asks for a line until it is right, and returns it without its number.
func askPaperLine(t *term.Terminal, n int) (string, error) {
	for {
		t.SetPrompt(fmt.Sprintf("%d: ", n))
		line, err := t.ReadLine()
		if err != nil {
			return "", err
		}
		if err = seal.CheckPaperLine(n, line); err == nil {
			_, rest, numbered := strings.Cut(line, ":")
			if numbered {
				line = rest
			}
			return line, nil
		}
		if _, err := io.WriteString(t, err.Error()+"; type it again\n"); err != nil {
			return "", err
		}
	}
}
