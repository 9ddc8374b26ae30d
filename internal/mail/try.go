package mail

import "context"

// Check connects to the server and signs in, and sends nothing. A *Failure if that cannot
// be done.
func (s Server) Check(ctx context.Context) error {
	o, err := s.open(ctx)
	if err == nil {
		o.close()
	}
	return err
}

// Test sends a mail that says no more than that mail arrives, at once. A *Failure if it
// was not taken.
func (s Server) Test(ctx context.Context, to, brand string) error {
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	return o.send(ctx, testText(to, brand))
}
