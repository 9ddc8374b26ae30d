package main

import "testing"

func TestOnlySettingsThatAProgramHasAreGivenToIt(t *testing.T) {
	t.Parallel()
	const printed = "listen: a  # default\npw:\n  expire_after_views_max: 100  # default\nlimits:\n  passphrase_queue: 64\nqr:\n  passphrases_per_life: 1\n"
	for key, want := range map[string]bool{
		"pw.expire_after_views_max": true, "limits.passphrase_queue": true,
		"limits.passphrases_per_life": false, "files.expire_after_views_max": false, "pw.expire_after_views": false,
	} {
		if got := hasSetting(printed, key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
