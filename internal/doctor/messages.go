package doctor

import (
	"context"
	"fmt"

	"pushbox/internal/admin"
	"pushbox/internal/humanize"
)

// checkMessages reports receivers that take no messages, and messages that were dropped.
func checkMessages(_ context.Context, s *Subject) (all []Finding) {
	if !s.Running || s.Facts == nil {
		return one(skipped("no server is running"))
	}
	for _, r := range s.Facts.Webhooks.Failing {
		if r.Webhook == 0 {
			all = append(all, failing("the webhook of the server (webhooks.url)", "check its receiver, webhooks.secret_file and webhooks.allow", r))
			continue
		}
		all = append(all, failing(fmt.Sprintf("webhook %d", r.Webhook), fmt.Sprintf("to see what it answers, run: pushbox webhook test %d", r.Webhook), r))
	}
	for _, r := range s.Facts.Mail.Failing {
		all = append(all, failing("the mail server", "to see what it answers, run: pushbox mail test ADDRESS", r))
	}
	for _, by := range []struct {
		name string
		of   admin.Deliveries
	}{{"messages to webhooks", s.Facts.Webhooks}, {"mails", s.Facts.Mail}} {
		if by.of.Dropped > 0 {
			all = append(all, warning("see the server's log, which has the reasons", "%d %s were dropped since the server started", by.of.Dropped, by.name))
		}
	}
	if len(all) > 0 {
		return all
	}
	waiting := s.Facts.Webhooks.Waiting + s.Facts.Mail.Waiting
	return one(fine("no receiver fails; %s", humanize.Count(waiting, "message waits", "messages wait")))
}

// failing reports a receiver.
func failing(who, cure string, r admin.Receiver) Finding {
	return warning(cure, "%s takes no message (%s in a row)", who, humanize.Count(r.Tries, "failed try", "failed tries"))
}
