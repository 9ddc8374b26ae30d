package instance

import (
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/seal"
)

// While a command waited for the database, the one that had it put another key into
// the key file.
func TestAKeyThatWasReplacedWhileACommandWaitedIsReadAgain(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	closed(t, opened(t, cfg))
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: Database(cfg)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	now, err := seal.LoadKeyFile(cfg.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Config: cfg, Note: func(say string) { t.Errorf("it said %q", say) }}
	if got := o.finishRotation(t.Context(), engine, seal.NewRootKey()); !got.Equal(now) {
		t.Error("the key from before is used")
	}
}
