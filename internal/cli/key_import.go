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
	"pushbox/store/seal"
)

const (
	maxKeyText    = 64 << 10 // bytes
	keyFilePrefix = "pushbox-key-"
)

func (a *app) keyImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import [FILE|-]",
		Short: "Make a key file of a master key on paper",
		Long: `Make the key file of what ` + "`pushbox key export`" + ` wrote: from FILE, from standard input
(-), or line by line as you type it in. A key file is taken, too. The key is
compared with that of the database, if there is one. A key file that exists is
never replaced.`,
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

// importTarget is where the key file is to be, which must not exist.
func (a *app) importTarget(cfg config.Config) (string, error) {
	keeper := rootKeeper(cfg, a.environ)
	if keeper.File == "" {
		return "", withHint(fmt.Errorf("the master key comes from %s, and not from a file that could be made", keeper.Fixed),
			"name another with master_key_file, such as PUSHBOX_MASTER_KEY_FILE=FILE")
	}
	path := cfg.KeyFile()
	if _, err := os.Lstat(path); err == nil {
		return "", withHint(fmt.Errorf("the key file %s exists already, and is not replaced", path),
			"move it away first; if it is the right one, nothing is to be done")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// importKey makes the key file, and the data directory for it if it is to lie there.
func (a *app) importKey(ctx context.Context, cfg config.Config, key seal.RootKey, path string) error {
	if err := a.compareKey(ctx, cfg, key); err != nil {
		return err
	}
	if filepath.Dir(path) == filepath.Clean(cfg.DataDir) {
		if _, err := makeDir(cfg.DataDir); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	if err := seal.KeepKeyFile(path, key); err != nil {
		return fmt.Errorf("make the key file %s: %w", path, err)
	}
	a.say(fmt.Sprintf("made the key file %s (ID %s)", path, key.ID()))
	return nil
}

// typedKey reads the key from where args say, or asks for it.
func (a *app) typedKey(ctx context.Context, args []string) (key seal.RootKey, err error) {
	var text []byte
	switch {
	case len(args) == 1 && args[0] == "-":
		text, err = readKeyText(a.console.in)
	case len(args) == 1:
		text, err = readKeyTextFile(args[0])
	case a.console.terminal:
		text, err = a.console.paper(ctx)
	default:
		return key, withHint(usagef("there is no terminal to type the key on"), "name a FILE, or - for standard input")
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

// notTyped says what to do about a key that is not whole.
func notTyped(err error) error {
	if errors.Is(err, seal.ErrKey) {
		return withHint(err, "compare it with the paper, and run the command again")
	}
	return err
}

func readKeyTextFile(name string) (text []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readKeyText(f)
}

func readKeyText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeyText+1))
	if err == nil && len(text) > maxKeyText {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", seal.ErrKey, maxKeyText)
	}
	return text, err
}

// paper asks for the lines of a paper form, each until it is right.
func (c *console) paper(ctx context.Context) ([]byte, error) {
	lines := make(chan string, seal.PaperLines)
	err := c.talk(ctx, func(t *term.Terminal) error {
		if _, err := io.WriteString(t, "Type the four lines of the paper, each with its last group. Ctrl-C ends it.\n"); err != nil {
			return err
		}
		for n := 1; n <= seal.PaperLines; n++ {
			line, err := askPaperLine(t, n)
			if err != nil {
				return err
			}
			lines <- line
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for n := 1; n <= seal.PaperLines; n++ {
		fmt.Fprintf(&text, "%d: %s\n", n, <-lines)
	}
	return []byte(text.String()), nil
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
