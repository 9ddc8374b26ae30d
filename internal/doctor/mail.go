package doctor

import "context"

// checkMail tells whether the mail server can be reached and lets pushbox in.
func checkMail(ctx context.Context, s *Subject) []Finding {
	if s.Mail == nil {
		return one(skipped("none is sent; mail.host has it be"))
	}
	if err := s.Mail(ctx); err != nil {
		return one(problem("docs/mail.md says what each of these means; pushbox mail test ADDRESS tries it out", "%s: %v", s.Config.Mail.Host, err))
	}
	return one(fine("%s can be reached, and lets pushbox in", s.Config.Mail.Host))
}
