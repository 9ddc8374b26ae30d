package server

import (
	"testing"

	"pushbox/config"
	"pushbox/internal/lang"
)

func TestEveryLanguageCanBeTheDefault(t *testing.T) {
	t.Parallel()
	var accepts string
	for _, k := range config.Keys() {
		if k.Key == "default_locale" {
			accepts = k.Accepts
		}
	}
	want := ""
	for i, tag := range lang.Tags() {
		switch {
		case i == len(lang.Tags())-1:
			want += " or "
		case i > 0:
			want += ", "
		}
		want += tag
	}
	if accepts != want {
		t.Errorf("default_locale accepts %q, and there are %q", accepts, want)
	}
}
