package config

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// Backup says when and where the server makes scheduled backups of its database.
type Backup struct {
	// Time from one backup to the next, such as 24h. 0: no scheduled backups.
	Schedule time.Duration `mapstructure:"schedule" min:"1h" max:"366d" off:"0"`

	// Directory for the backups; the start makes it if it is missing. Empty: backups in
	// data_dir, on the same disk as the database.
	Dir string `mapstructure:"dir"`

	// How many backups stay there. The oldest is removed once a new one is on the disk.
	Keep int `mapstructure:"keep" min:"1" max:"10000"`

	// age recipients (age1...) who can decrypt the backups; set to encrypt them. It is
	// also the default of pushbox backup. In the environment: separated by commas.
	Recipients []string `mapstructure:"recipients" form:"recipients"`

	// A command to run after each scheduled backup, such as one that copies it to another
	// machine: the absolute path of a program and its arguments, without a shell. {} in an
	// argument means the path of the backup. In the environment: separated by commas,
	// or a JSON list. Empty: none.
	After []string `mapstructure:"after" form:"command"`
}

// BackupDir returns the directory of scheduled backups: Backup.Dir, or backups in
// DataDir if that is empty.
func (c Config) BackupDir() string {
	if c.Backup.Dir != "" {
		return c.Backup.Dir
	}
	return filepath.Join(c.DataDir, "backups")
}

func defaultBackup() Backup { return Backup{Keep: 7, Recipients: []string{}, After: []string{}} }

// parseCommand reads a program and its arguments.
func parseCommand(text string) ([]string, error) {
	all, err := parseList(parseText)(text)
	switch {
	case err != nil:
		return nil, err
	case len(all) > 0 && !filepath.IsAbs(all[0]):
		return nil, errors.New("must begin with the absolute path of a program")
	}
	return all, nil
}

// recipientLetters are the letters of a recipient. Its checksum is verified only
// when something is encrypted to it.
const recipientLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// parseRecipient reads an age recipient. The error does not quote it: it may be an
// identity, which is a secret.
func parseRecipient(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "age1"); !ok || rest == "" || strings.Trim(rest, recipientLetters) != "" {
		return "", errors.New("must be an age recipient, which begins with age1")
	}
	return text, nil
}
