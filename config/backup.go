package config

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Backup says when the server makes backups of its database by itself, and where.
type Backup struct {
	// How long after one backup the next is made, such as 24h. 0: none is made
	// by itself.
	Schedule time.Duration `mapstructure:"schedule" min:"1h" max:"366d" off:"0"`

	// Directory for them; made at the start where it is missing. Empty: backups in
	// data_dir, which a failing disk takes with it.
	Dir string `mapstructure:"dir"`

	// How many of them stay there. The oldest goes when a new one is on the disk.
	Keep int `mapstructure:"keep" min:"1" max:"10000"`

	// Who can read them, as age recipients (age1...), if they are to be encrypted.
	// It holds for the command as well, unless that is told otherwise. In the
	// environment: separated by commas.
	Recipients []string `mapstructure:"recipients" form:"recipients"`
}

// BackupDir is where scheduled backups lie: Backup.Dir, or backups in DataDir where
// that is empty.
func (c Config) BackupDir() string {
	if c.Backup.Dir != "" {
		return c.Backup.Dir
	}
	return filepath.Join(c.DataDir, "backups")
}

func defaultBackup() Backup { return Backup{Keep: 7, Recipients: []string{}} }

// recipientLetters are what a recipient consists of; whether one is whole, whoever
// encrypts to it finds out.
const recipientLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// parseRecipients reads age recipients, separated by commas. The error quotes none:
// it may be an identity, which is a secret.
func parseRecipients(text string) ([]string, error) {
	all := []string{}
	if text == "" {
		return all, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if rest, ok := strings.CutPrefix(item, "age1"); !ok || rest == "" || strings.Trim(rest, recipientLetters) != "" {
			return nil, errors.New("entry " + strconv.Itoa(len(all)+1) + " must be an age recipient, which begins with age1")
		}
		all = append(all, item)
	}
	return all, nil
}

func printRecipients(all []string) string {
	items := make([]string, len(all))
	for i, r := range all {
		items[i] = strconv.Quote(r)
	}
	return "[" + strings.Join(items, ", ") + "]"
}
