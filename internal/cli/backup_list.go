package cli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pushbox/internal/backup"
	"pushbox/internal/humanize"
)

func (a *app) backupList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the scheduled backups, oldest first",
		Long: `List the scheduled backups in backup.dir, oldest first. Backups with names of your
own are not among them.

With --json each line is an object with file, begun_at, bytes and encrypted.`,
		Example: `  pushbox backup list
  pushbox backup list --json | jq -r .file | tail -1`,
		Args: arguments(),
	}
	asJSON := addJSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := a.settings(cmd)
		if err != nil {
			return err
		}
		list, err := listBackups(loaded.Config.BackupDir())
		if err != nil {
			return err
		}
		return listing[listedBackup]{[]string{"FILE", "BEGUN", "SIZE", "ENCRYPTED"}, listedBackup.row}.print(a.stdout, list, *asJSON)
	}
	return cmd
}

// A listedBackup is what a list shows of a backup.
type listedBackup struct {
	File      string    `json:"file"`
	BegunAt   time.Time `json:"begun_at"`
	Bytes     int64     `json:"bytes"`
	Encrypted bool      `json:"encrypted"`
}

func listBackups(dir string) (list []listedBackup, err error) {
	files, err := backup.List(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		info, err := os.Stat(path)
		if os.IsNotExist(err) { // it was removed a moment ago
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, listedBackup{path, f.At, info.Size(), f.Encrypted()})
	}
	return list, nil
}

func (b listedBackup) row() []string {
	encrypted := "no"
	if b.Encrypted {
		encrypted = "yes"
	}
	return []string{b.File, stamp(b.BegunAt, "-"), humanize.Size(b.Bytes), encrypted}
}
