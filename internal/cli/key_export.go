package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/terminal"
	"pushbox/store/seal"
)

func (a *app) keyExport() *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the master key in a form for paper",
		Long: `Write the master key in a form that can be printed, kept in a safe and typed in
again: four lines with a checksum each, so that ` + "`pushbox key import`" + ` finds a mistyped
line. The key is first compared with the database's.

It goes to standard output: pipe it to a printer. Without --force it is not shown on
a terminal, which keeps what it shows.`,
		Example: `  pushbox key export | lp
  pushbox key export -o /media/usb/pushbox-key.txt`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if file == "" && !force {
				err = a.refuseOnlookers()
			}
			if err != nil {
				return err
			}
			key, err := instance.ReadKey(loaded.Config)
			if err == nil {
				err = a.compareKey(cmd.Context(), loaded.Config, key)
			}
			if err != nil {
				return err
			}
			return a.writePaper(key, file)
		},
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
			"use -o FILE in place of > FILE, which makes it for you alone")
	}
	return nil
}

// writePaper writes the paper form of a key to a new file, or to standard output if file is
// empty.
func (a *app) writePaper(key seal.RootKey, file string) error {
	if file == "" {
		_, err := a.stdout.Write(key.Paper())
		return err
	}
	if err := seal.KeepFile(file, key.Paper()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = hint.With(err, "name a file that does not exist yet")
		}
		return err
	}
	a.say(fmt.Sprintf("wrote the master key (ID %s) to %s: keep it apart from the database", key.ID(), file))
	return nil
}
