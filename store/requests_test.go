package store_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/wraptest"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// asks makes a request of an account, with changes.
func asks(t *testing.T, f *storetest.Fixture, by store.Actor, change func(*store.NewRequest)) store.RequestInfo {
	t.Helper()
	in := store.NewRequest{Text: secret.New("The VPN password, please\nand the name"), Texts: true, Files: true}
	if change != nil {
		change(&in)
	}
	r, err := f.CreateRequest(ctx, by, in)
	env.OK(t, err)
	return r
}

// answers sends a text to a request.
func answers(f *storetest.Fixture, to store.RequestToken, payload string) (store.PushInfo, error) {
	return f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.Text, Payload: secret.New(payload), Request: to})
}

func TestARequestIsAnsweredWithAPushOfItsOwner(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
	views := 3
	r := asks(t, f, ann, func(in *store.NewRequest) { in.AnswerLifetime, in.AnswerViews = time.Hour, &views })
	seen, err := f.FindRequest(ctx, r.Token)
	if err != nil || seen.Asker != "ann@example.com" || seen.Text.Reveal() != r.Text.Reveal() || !seen.Token.IsZero() {
		t.Fatalf("the sender sees %+v, %v", seen, err)
	}
	sent, err := f.CreatePush(ctx, anonymous, store.NewPush{
		Kind: record.Text, Payload: secret.New("hunter2"), Request: r.Token,
		Name: secret.New("mine"), Note: secret.New("mine"), Passphrase: secret.New("mine"), Receipt: true,
	})
	if err != nil || !sent.Token.IsZero() || !sent.ReceiptCode.IsZero() || !sent.Name.IsZero() {
		t.Fatalf("the sender learned %+v, %v", sent, err)
	}
	f.Reopen()
	got, err := f.Request(ctx, ann, r.ID)
	if err != nil || len(got.Pushes) != 1 || got.Live() || !got.Token.IsZero() {
		t.Fatalf("the owner sees %+v, %v", got, err)
	}
	p := got.Pushes[0]
	if p.Owner != ann.Account || p.Request != r.ID || p.Protected || p.ViewLimit != 3 || !p.ExpiresAt.Equal(p.CreatedAt.Add(time.Hour)) ||
		p.Name.Reveal() != "The VPN password, please" || !p.Note.IsZero() {
		t.Errorf("the answer is %+v", p)
	}
	opened, err := f.Retrieve(ctx, ann, p.Token, secret.Text{}, nil)
	if err != nil || opened.Payload.Reveal() != "hunter2" {
		t.Errorf("the owner opens %q, %v", opened.Payload.Reveal(), err)
	}
	log, err := f.Audit(ctx, ann, p.Token, 1)
	if err != nil || len(log) != 2 || log[0].Kind != record.EntryCreation || log[0].IP != anonymous.IP {
		t.Errorf("the audit log is %+v, %v", log, err)
	}
	if _, err := f.Request(ctx, bob, r.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	if _, err := f.Request(ctx, anonymous, r.ID); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("an anonymous client: %v", err)
	}
}

// An answer is read once its owner has opened it. What else happens to it does not count.
func TestAnAnswerIsReadWhenItsOwnerHasOpenedIt(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	three := 3
	r := asks(t, f, ann, func(in *store.NewRequest) { in.MaxAnswers = &three })
	for _, text := range []string{"first", "second", "third"} {
		if _, err := answers(f, r.Token, text); err != nil {
			t.Fatal(err)
		}
	}
	unread := func() int {
		t.Helper()
		list, err := f.Requests(ctx, ann, 1)
		if err != nil || len(list) != 1 {
			t.Fatalf("the requests are %+v, %v", list, err)
		}
		return list[0].Unread
	}
	all, err := f.Request(ctx, ann, r.ID)
	if err != nil || unread() != 3 || !all.Pushes[0].Has(store.NotOpened) {
		t.Fatalf("%d of %+v are not read, %v", unread(), all.Pushes, err)
	}
	read := f.Clock.Now()
	for range 2 {
		if _, err := f.Retrieve(ctx, ann, all.Pushes[0].Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
		f.Clock.Advance(time.Minute)
	}
	if _, err := f.Retrieve(ctx, anonymous, all.Pushes[1].Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	f.Reopen()
	h, err := f.History(ctx, ann, all.Pushes[0].Token, 1)
	if err != nil || !h.ReadAt.Equal(read) || h.Push.Views != 0 || !h.Has(store.Opened) || h.Asked.Reveal() != r.Title().Reveal() {
		t.Errorf("the answer that was read is %+v, %v", h, err)
	}
	if h.Log[0].Request != r.ID || h.Log[1].Request != (record.RequestID{}) {
		t.Errorf("its audit log is %+v", h.Log)
	}
	if unread() != 2 {
		t.Errorf("after one was read, %d are not", unread())
	}
	if _, err := f.DeletePush(ctx, ann, all.Pushes[1].Token); err != nil || unread() != 1 {
		t.Errorf("after another was deleted, %d are not read, %v", unread(), err)
	}
	f.Clock.Advance(90 * 24 * time.Hour)
	if unread() != 0 {
		t.Errorf("after the time of the last one, %d are not read", unread())
	}
	own := storetest.Push(t, f, ann, nil)
	if p, err := f.Retrieve(ctx, ann, own.Token, secret.Text{}, nil); err != nil || !p.ReadAt.IsZero() {
		t.Errorf("a push that answers nothing is %+v, %v", p, err)
	}
}

// A url_token finds no request, and the token of a request finds no push.
func TestTokensOfRequestsAndPushesShareNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	r, p := asks(t, f, ann, nil), storetest.Push(t, f, ann, nil)
	if _, err := f.Preview(ctx, store.Token(r.Token)); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("the token of a request as a url_token: %v", err)
	}
	if _, err := f.FindRequest(ctx, store.RequestToken(p.Token)); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a url_token as that of a request: %v", err)
	}
	if n, err := store.ParseName(r.ID.String()); err == nil {
		if _, err := f.Audit(ctx, ann, n, 1); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("the ID of a request as the name of a push: %v", err)
		}
	}
	for _, text := range []string{"", "x", strings.Repeat("a", 33), strings.Repeat("!", 34)} {
		if _, err := store.ParseRequestToken(text); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := store.ParseRequestID(text); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got, err := store.ParseRequestToken(strings.ToUpper(r.Token.Reveal())); err != nil || got.Reveal() != r.Token.Reveal() {
		t.Errorf("in upper case: %v", err)
	}
	if got, err := store.ParseRequestID(strings.ToUpper(r.ID.String())); err != nil || got != r.ID {
		t.Errorf("in upper case: %v, %v", got, err)
	}
}

func TestARequestEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *storetest.Fixture, store.Actor, store.RequestInfo){
		"by its owner": func(t *testing.T, f *storetest.Fixture, by store.Actor, r store.RequestInfo) {
			for range 2 {
				if got, err := f.EndRequest(ctx, by, r.ID); err != nil || got.Live() || !got.Token.IsZero() {
					t.Errorf("%+v, %v", got, err)
				}
			}
		},
		"by its answers": func(t *testing.T, f *storetest.Fixture, _ store.Actor, r store.RequestInfo) {
			if _, err := answers(f, r.Token, "x"); err != nil {
				t.Error(err)
			}
		},
		"by time": func(_ *testing.T, f *storetest.Fixture, _ store.Actor, _ store.RequestInfo) { f.Clock.Advance(7 * day) },
		"with its account": func(t *testing.T, f *storetest.Fixture, _ store.Actor, _ store.RequestInfo) {
			if err := f.SetDisabled(ctx, storetest.Operator, "ann@example.com", true); err != nil {
				t.Error(err)
			}
		},
		"by a restore": func(t *testing.T, f *storetest.Fixture, _ store.Actor, _ store.RequestInfo) {
			if _, err := f.Restore(ctx, true); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := storetest.New(t)
			ann, bob := f.Account("ann@example.com"), f.Account("bob@example.com")
			r := asks(t, f, ann, nil)
			for _, other := range []store.Actor{bob, anonymous} {
				if _, err := f.EndRequest(ctx, other, r.ID); !errors.Is(err, record.ErrNotFound) {
					t.Errorf("by another: %v", err)
				}
			}
			if _, err := f.FindRequest(ctx, r.Token); err != nil {
				t.Fatal(err)
			}
			end(t, f, ann, r)
			if _, err := f.FindRequest(ctx, r.Token); !errors.Is(err, record.ErrNotFound) {
				t.Errorf("found: %v", err)
			}
			if _, err := answers(f, r.Token, "y"); !errors.Is(err, record.ErrNotFound) {
				t.Errorf("answered: %v", err)
			}
		})
	}
}

func TestAnAnswerIsWhatTheRequestTakes(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann, most := f.Account("ann@example.com"), record.MaxAnswers
	text := asks(t, f, ann, func(in *store.NewRequest) { in.Files, in.MaxAnswers = false, &most })
	files := asks(t, f, ann, func(in *store.NewRequest) { in.Texts, in.MaxAnswers = false, &most })
	p, err := ecdh.P256().GenerateKey(rand.Reader)
	env.OK(t, err)
	own := p.PublicKey().Bytes()
	sealed := asks(t, f, ann, func(in *store.NewRequest) { in.P256, in.MaxAnswers = own, &most })
	pushKey := endtoend.NewKey()
	key := wraptest.Wrap(t, pushKey.Fragment(), own, wraptest.Ephemeral(t, own))
	secretText, err := pushKey.Seal(endtoend.Content{Text: secret.New("x")})
	env.OK(t, err)
	envelope := secretText.Reveal()
	for name, c := range map[string]struct {
		to      store.RequestToken
		payload string
		key     []byte
		files   bool
		field   string // empty: it is taken
	}{
		"a text":                          {text.Token, "x", nil, false, ""},
		"an empty text":                   {text.Token, " ", nil, false, store.FieldPayload},
		"a file where texts are asked":    {text.Token, "x", nil, true, store.FieldKind},
		"a text where files are asked":    {files.Token, "x", nil, false, store.FieldKind},
		"a file":                          {files.Token, "", nil, true, ""},
		"plain where it must not be":      {sealed.Token, "x", nil, false, store.FieldPayload},
		"an envelope without its key":     {sealed.Token, envelope, nil, false, store.FieldPayload},
		"an envelope with too long a key": {sealed.Token, envelope, append(key, 1), false, store.FieldPayload},
		"an envelope where none is read":  {text.Token, envelope, key, false, store.FieldPayload},
		"a key without an envelope":       {text.Token, "x", key, false, store.FieldWrappedKey},
		"a byte without an envelope":      {text.Token, "x", []byte{7}, false, store.FieldWrappedKey},
		"much without an envelope":        {text.Token, "x", make([]byte, 1<<20), false, store.FieldWrappedKey},
		"a key beside files":              {files.Token, "", key, true, store.FieldWrappedKey},
		"an envelope":                     {sealed.Token, envelope, key, false, ""},
	} {
		in := store.NewPush{Kind: record.Text, Payload: secret.New(c.payload), Request: c.to, WrappedKey: c.key}
		if c.files {
			in.Kind, in.Files = record.File, f.NewUpload(f.Policy(""))
			env.OK(t, in.Files.Add(ctx, strings.NewReader("content")))
		}
		_, err := f.CreatePush(ctx, anonymous, in)
		if c.files {
			if err := in.Files.Close(ctx); err != nil {
				t.Error(err)
			}
		}
		var bad *record.InvalidError
		if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &bad) || bad.Fields[c.field] == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := f.Request(ctx, ann, sealed.ID)
	if err != nil || len(got.Pushes) != 1 || !got.Pushes[0].ClientEncrypted || !bytes.Equal(got.Pushes[0].WrappedKey, key) {
		t.Fatalf("the encrypted answer is %+v, %v", got.Pushes, err)
	}
	if p := got.Pushes[0]; p.Size < int64(len(envelope)+len(key)) || p.Room().Bytes != p.Size {
		t.Errorf("an answer whose key has %d bytes takes the room %+v", len(key), p.Room())
	}
	if _, err := f.DeletePush(ctx, ann, got.Pushes[0].Token); err != nil {
		t.Fatal(err)
	}
	if p, _, err := f.Engine().Push(ctx, got.Pushes[0].ID); err != nil || p.WrappedKey != nil {
		t.Errorf("the record of the ended answer has the wrapped key %x, %v", p.WrappedKey, err)
	}
}

func TestARequestHasBounds(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	number := func(n int) *int { return &n }
	p, err := ecdh.P256().GenerateKey(rand.Reader)
	env.OK(t, err)
	point := p.PublicKey().Bytes()
	for name, c := range map[string]struct {
		change func(*store.NewRequest)
		field  string // empty: it is taken
	}{
		"no text":               {func(in *store.NewRequest) { in.Text = secret.New(" \n") }, store.FieldText},
		"the longest text":      {func(in *store.NewRequest) { in.Text = secret.New(strings.Repeat("ä", record.MaxAsked)) }, ""},
		"too long a text":       {func(in *store.NewRequest) { in.Text = secret.New(strings.Repeat("ä", record.MaxAsked+1)) }, store.FieldText},
		"no answers":            {func(in *store.NewRequest) { in.MaxAnswers = number(0) }, store.FieldMaxAnswers},
		"most answers":          {func(in *store.NewRequest) { in.MaxAnswers = number(record.MaxAnswers) }, ""},
		"too many answers":      {func(in *store.NewRequest) { in.MaxAnswers = number(record.MaxAnswers + 1) }, store.FieldMaxAnswers},
		"no days":               {func(in *store.NewRequest) { in.Days = number(0) }, store.FieldDays},
		"most days":             {func(in *store.NewRequest) { in.Days = number(90) }, ""},
		"too many days":         {func(in *store.NewRequest) { in.Days = number(91) }, store.FieldDays},
		"15 minutes":            {func(in *store.NewRequest) { in.Lifetime = 15 * time.Minute }, ""},
		"14 minutes":            {func(in *store.NewRequest) { in.Lifetime = 14 * time.Minute }, store.FieldDuration},
		"91 days":               {func(in *store.NewRequest) { in.Lifetime = 91 * day }, store.FieldDuration},
		"answers of no days":    {func(in *store.NewRequest) { in.AnswerDays = number(0) }, store.FieldAnswerDays},
		"answers of 91 days":    {func(in *store.NewRequest) { in.AnswerLifetime = 91 * day }, store.FieldAnswerDuration},
		"answers without views": {func(in *store.NewRequest) { in.AnswerViews = number(0) }, store.FieldAnswerViews},
		"a malformed key":       {func(in *store.NewRequest) { in.P256 = make([]byte, 65) }, store.FieldP256},
		"too short a key":       {func(in *store.NewRequest) { in.P256, in.X25519 = point, make([]byte, 31) }, store.FieldX25519},
		"a key that some lack":  {func(in *store.NewRequest) { in.X25519 = bytes.Repeat([]byte{9}, 32) }, store.FieldP256},
		"both keys":             {func(in *store.NewRequest) { in.P256, in.X25519 = point, bytes.Repeat([]byte{9}, 32) }, ""},
	} {
		in := store.NewRequest{Text: secret.New("x"), Texts: true, Files: true}
		c.change(&in)
		_, err := f.CreateRequest(ctx, ann, in)
		var bad *record.InvalidError
		if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &bad) || len(bad.Fields[c.field]) != 1 || len(bad.Fields) != 1) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.CreateRequest(ctx, anonymous, store.NewRequest{Text: secret.New("x")}); !errors.Is(err, record.ErrDenied) {
		t.Errorf("without an account: %v", err)
	}
}

func TestTheTitleOfARequestIsItsFirstLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one line":                  "one line",
		"\n a line \r\nand another": "a line",
		strings.Repeat("x", 256):    strings.Repeat("x", 255),
		strings.Repeat("ä", 128):    strings.Repeat("ä", 127),
		"\xff":                      "\xff",
	} {
		if got := (store.RequestInfo{Text: secret.New(text)}).Title().Reveal(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What is kept of a request goes with the last of its answers.
func TestASweepRemovesRequests(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(s *storetest.Setup) { s.PurgeAfter = 10 * day })
	ann := f.Account("ann@example.com")
	answered := asks(t, f, ann, nil)
	f.Clock.Advance(time.Minute)
	forgotten := asks(t, f, ann, nil)
	if _, err := answers(f, answered.Token, "x"); err != nil {
		t.Fatal(err)
	}
	listed := func(want ...record.RequestID) {
		t.Helper()
		f.SweepAll()
		list, err := f.Requests(ctx, ann, 1)
		if err != nil || len(list) != len(want) {
			t.Fatalf("%d requests are there, %v", len(list), err)
		}
		for i, id := range want {
			if list[i].ID != id || list[i].Title().Reveal() != "The VPN password, please" {
				t.Errorf("request %d is %+v", i, list[i])
			}
		}
	}
	listed(forgotten.ID, answered.ID)
	f.Clock.Advance(8 * day)
	listed(forgotten.ID, answered.ID)
	f.Clock.Advance(8 * day) // the answer ended after 7 days, and its record stays for 10
	listed(forgotten.ID, answered.ID)
	f.Clock.Advance(time.Hour + 36*time.Hour)
	listed()
}

func TestTheOwnerHasRoomForAnswersOrNotAtAll(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, bounded(record.RoomLimits{Account: record.Room{Pushes: 1}}))
	ann := f.Account("ann@example.com")
	most := 5
	r := asks(t, f, ann, func(in *store.NewRequest) { in.MaxAnswers = &most })
	if _, err := answers(f, r.Token, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := answers(f, r.Token, "y"); !errors.Is(err, record.ErrNoAnswers) {
		t.Errorf("one more: %v", err)
	}
	seen, err := f.FindRequest(ctx, r.Token)
	env.OK(t, err)
	if err := f.RequestHasRoom(ctx, seen, 1); !errors.Is(err, record.ErrNoAnswers) {
		t.Errorf("asked before: %v", err)
	}
}

// A sender with a link puts no more into the store than an anonymous client could.
func TestAnAnswerIsNoLargerThanWhatAnAnonymousClientMayHave(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Configure(store.Options{Terms: storetest.Terms(), Files: store.FileLimits{MaxCount: 2, MaxSize: 1 << 20}, Space: record.SpaceLimits{Room: record.RoomLimits{Client: record.Room{Bytes: 10_000}}}})
	ann, most := f.Account("ann@example.com"), 5
	r := asks(t, f, ann, func(in *store.NewRequest) { in.MaxAnswers = &most })
	for size, want := range map[int]error{1000: nil, 20_000: record.ErrFileSize} {
		seen, err := f.FindRequest(ctx, r.Token)
		env.OK(t, err)
		u := f.NewUpload(f.Policy(""))
		env.OK(t, u.Add(ctx, strings.NewReader(strings.Repeat("x", size))))
		_, err = f.CreatePush(ctx, anonymous, store.NewPush{Kind: record.File, Files: u, Request: r.Token})
		if asked := f.RequestHasRoom(ctx, seen, int64(size)); !errors.Is(err, want) || !errors.Is(asked, want) {
			t.Errorf("%d bytes: %v, and before %v", size, err, asked)
		}
		if err := u.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestTheOwnerIsToldOfAnAnswer(t *testing.T) {
	t.Parallel()
	for mail, want := range map[bool]int{true: 1, false: 0} {
		f := storetest.New(t, func(s *storetest.Setup) {
			if s.Mail = (store.MailOptions{}); mail {
				sendsMail(s)
			}
		})
		ann := f.Account("ann@example.com")
		r := asks(t, f, ann, nil)
		if !mail {
			addHook(t, f, "ann@example.com", record.EventAnswer)
		}
		if _, err := answers(f, r.Token, "x"); err != nil {
			t.Fatal(err)
		}
		mails := letters(t, f)
		if len(mails) != want || f.Waiting() != 1 {
			t.Fatalf("mail %t: %d mails of %d messages", mail, len(mails), f.Waiting())
		}
		if mail {
			if l := mails[0]; l.About != store.MailAnswer || l.To.Reveal() != "ann@example.com" || l.Push.Request != r.ID || !l.Push.Token.IsZero() {
				t.Errorf("the mail is %+v", l)
			}
			continue
		}
		all, _ := notices(t, f)
		if n := all[0]; n.Event != record.EventAnswer || n.Request != r.ID || !n.URLToken.IsZero() || n.IP != anonymous.IP || n.Name.Reveal() != "The VPN password, please" {
			t.Errorf("the webhook is told %+v", n)
		}
	}
}

func TestTheFileHoldsNothingOfARequestInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	r := asks(t, f, ann, func(in *store.NewRequest) { in.Text = secret.New("canary-text-of-a-request-77") })
	by := store.Actor{Client: "203.0.113.99", IP: "203.0.113.99", UserAgent: "canary-agent-of-an-answer"}
	if _, err := f.CreatePush(ctx, by, store.NewPush{Kind: record.Text, Payload: secret.New("canary-of-an-answer-5521"), Request: r.Token}); err != nil {
		t.Fatal(err)
	}
	holdsNone(t, f, [][]byte{r.ID[:]}, "canary-text-of-a-request-77", r.Token.Reveal(), "canary-of-an-answer-5521", by.IP, by.UserAgent)
}

// unconfirm makes an account one of which it is not known whose address it has.
func unconfirm(f *storetest.Fixture, id record.AccountID) error {
	_, err := cold.ChangeAccount(ctx, f.Engine(), id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Unconfirmed = true
		return a, record.SessionChange{}, storetest.Told(f.Engine()), nil
	})
	return err
}

// Senders see the address of the account that asks, so it is one that was confirmed.
func TestOnlyAConfirmedAddressAsks(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	eve := signedUp(t, f, "it-support@bank.example")
	if _, err := f.CreateRequest(ctx, eve.by, store.NewRequest{Text: secret.New("Your PIN, please")}); !errors.Is(err, record.ErrUnconfirmed) {
		t.Errorf("it is %v", err)
	}
	if !eve.confirms(eve.mailCode().Reveal()) {
		t.Fatal("the code is wrong")
	}
	r := asks(t, f, eve.by, nil)
	if found, err := f.FindRequest(ctx, r.Token); err != nil || found.Asker != "it-support@bank.example" {
		t.Errorf("%+v, %v", found, err)
	}
	env.OK(t, unconfirm(f, eve.by.Account))
	if found, err := f.FindRequest(ctx, r.Token); !errors.Is(err, record.ErrNotFound) || found.ID != r.ID || found.Asker != "" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := answers(f, r.Token, "1234"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("an answer: %v", err)
	}
}

// A list by state reads a thousand requests and no more, whatever an account has.
func TestAListOfSomeRequestsLooksAtAThousand(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	ended := func(text string) {
		r := asks(t, f, ann, func(in *store.NewRequest) { in.Text = secret.New(text) })
		_, err := f.EndRequest(ctx, ann, r.ID)
		env.OK(t, err)
	}
	oldest := func(r store.RequestInfo) bool { return r.Text.Reveal() == "the oldest" }
	ended("the oldest")
	for range 999 {
		ended("another")
	}
	if list, err := f.RequestsThat(ctx, ann, 1, oldest); err != nil || len(list) != 1 {
		t.Errorf("among a thousand: %d found, %v", len(list), err)
	}
	all := func(store.RequestInfo) bool { return true }
	for page, want := range map[int]int{1: store.PageSize, 20: store.PageSize, 21: 0} {
		if list, err := f.RequestsThat(ctx, ann, page, all); err != nil || len(list) != want {
			t.Errorf("page %d: %d found, %v", page, len(list), err)
		}
	}
	ended("one more")
	if list, err := f.RequestsThat(ctx, ann, 1, oldest); err != nil || len(list) != 0 {
		t.Errorf("behind a thousand: %d found, %v", len(list), err)
	}
}

func TestARequestSaysWhenItChanged(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	most := 2
	r := asks(t, f, ann, func(in *store.NewRequest) { in.MaxAnswers = &most })
	made := r.CreatedAt
	changed := func() time.Time {
		t.Helper()
		got, err := f.Request(ctx, ann, r.ID)
		env.OK(t, err)
		return got.ChangedAt
	}
	if got := changed(); !got.Equal(made) || !r.ChangedAt.Equal(made) {
		t.Errorf("at first: %v, not %v", got, made)
	}
	f.Clock.Advance(time.Hour)
	_, err := answers(f, r.Token, "hunter2")
	env.OK(t, err)
	if got := changed(); got.Sub(made) < time.Hour || got.Sub(made) > time.Hour+time.Second {
		t.Errorf("after an answer: %v, not an hour later", got.Sub(made))
	}
	f.Clock.Advance(7 * 24 * time.Hour)
	if got := changed(); !got.Equal(r.ExpiresAt) {
		t.Errorf("when its time is over: %v, not %v", got, r.ExpiresAt)
	}
}
