package cli

import (
	"context"
	"net"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
)

func TestAReloadTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	cfg := settingsFor(dir)
	s := opened(t, cfg)
	defer closed(t, s)
	answers := make(chan admin.Reloaded, 1)
	reload := func(context.Context, admin.None) (admin.Reloaded, error) { return <-answers, nil }
	defer control(t, cfg, func(ctx context.Context, l net.Listener) error {
		return admin.Serve(ctx, l, s, admin.Reload.By(reload))
	})()
	answers <- admin.Reloaded{Problems: []string{"logo.exe is no image"}}
	run(t, dir, "", "reload").want(t, exitUsage, "nothing was changed", "is no image", "hint: correct these settings")
	answers <- admin.Reloaded{Changed: []string{"allow_anonymous"}, Waiting: []string{"listen"}}
	run(t, dir, "", "reload").want(t, exitDone, "in force now: allow_anonymous", "files with secrets were not", "waiting for a restart: listen")
	answers <- admin.Reloaded{Waiting: []string{"listen"}}
	run(t, dir, "", "reload").want(t, exitDone, "no setting changed", "waiting for a restart: listen")
	run(t, env.ShortDir(t), "", "reload").want(t, exitFailed, "no server is running", "--data-dir")
}
