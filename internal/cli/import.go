package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/pwpush/settings"
)

// imports are the commands for administrators who come from Password Pusher.
func (a *app) imports() *cobra.Command {
	return group("import", "Take over from Password Pusher", a.importPasswordPusher(), a.importSettings())
}

func (a *app) importSettings() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "settings FILE|-",
		Short: "Make a settings file from Password Pusher's variables",
		Long: `Make a settings file of pushbox from FILE: a .env file or a compose file with the
variables of a Password Pusher server (PWP__...), or standard input (-). The
settings go to standard output.

Each setting has a comment with the variable that it comes from. Variables that
pushbox needs no setting for are listed with what it does instead; those that an
administrator has to decide come first, and are named on standard error, too. Keys
and passwords are not copied.`,
		Example: `  pushbox import settings .env
  pushbox import settings docker-compose.yml -o config.yaml`,
		Args: arguments("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			made, err := a.convertSettings(args[0])
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if _, err := made.WriteTo(&b); err != nil {
				return err
			}
			if err := a.deliverSettings(b.Bytes(), file); err != nil {
				return err
			}
			a.tellSettings(made)
			return nil
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write them to a new `FILE`")
	return cmd
}

// convertSettings converts the variables in a file, or on standard input.
func (a *app) convertSettings(path string) (made settings.Conversion, err error) {
	in := a.console.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return made, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	vars, notes, err := settings.Read(in)
	if err != nil {
		return made, hint.With(fmt.Errorf("read the variables: %w", err), "name a file with lines NAME=VALUE, or a compose file")
	}
	made, err = settings.Convert(vars)
	if err != nil {
		return made, err
	}
	for _, note := range notes {
		a.say(note)
	}
	if len(vars) == made.Others {
		return made, hint.With(errors.New("no variable of Password Pusher is in this file"),
			"name the .env file of its server, or the compose file; a compose file may take its variables from an env_file")
	}
	return made, nil
}

// deliverSettings writes a settings file to a new file, or to standard output if path is
// empty or -. It has no secrets, and others than its owner have to read it.
func (a *app) deliverSettings(text []byte, path string) error {
	if path == "" || path == "-" {
		_, err := a.stdout.Write(text)
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(text))
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	switch published, err := durable.Publish(f.Name(), path); {
	case err != nil:
		return err
	case !published:
		return hint.With(fmt.Errorf("the file %s exists already, and is not replaced", path), "name a file that does not exist yet, and compare the two")
	}
	return nil
}

// tellSettings says how much was converted, and what is left to decide.
func (a *app) tellSettings(made settings.Conversion) {
	decide := 0
	for _, r := range made.Remarks {
		if r.Decide {
			decide++
			a.say("to decide: " + r.From + ": " + r.Text)
		}
	}
	a.say(fmt.Sprintf("made %s; %d to decide, %d without a counterpart", humanize.Count(len(made.Settings), "setting", "settings"), decide, len(made.Remarks)-decide))
}
