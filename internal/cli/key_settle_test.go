package cli

import (
	"testing"

	"pushbox/store/bolt"
	"pushbox/store/seal"
)

// While a command waited for the database, the one that had it put another key into
// the key file.
func TestAKeyThatWasReplacedWhileACommandWaitedIsReadAgain(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(withAlice(t))
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: databasePath(cfg)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	now, err := seal.LoadKeyFile(cfg.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	o := opening{cfg: cfg, note: func(say string) { t.Errorf("it said %q", say) }}
	if got := o.settleKey(t.Context(), engine, seal.NewRootKey()); !got.Equal(now) {
		t.Error("the key from before is used")
	}
}
