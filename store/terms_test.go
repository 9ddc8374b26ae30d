package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

var terms = Terms{
	Enabled: true,
	Days:    Range{Default: 7, Min: 2, Max: 90}, Views: Range{Default: 5, Min: 2, Max: 100},
	RetrievalStep: Choice{Enabled: true, Default: true}, Deletable: Choice{Enabled: true, Default: true},
}

func ptr[T any](v T) *T { return &v }

func textOf(n int) secret.Text { return secret.New(strings.Repeat("a", n)) }

// badFields returns the names of the fields that an error complains of.
func badFields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var invalid *record.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v", err)
	}
	var names []string
	for name := range invalid.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func resolved(terms Terms, in NewPush) (record.Push, error) {
	var bad record.InvalidError
	p := terms.resolve(in, sureAt(newYear), &bad)
	return p, bad.Err()
}

func TestSilenceTakesTheDefaults(t *testing.T) {
	t.Parallel()
	p, err := resolved(terms, NewPush{Kind: record.Text, Payload: textOf(1)})
	env.OK(t, err)
	if p.Days != 7 || p.ViewLimit != 5 || !p.RetrievalStep || !p.DeletableByViewer || p.Protected || p.ExpiresAt != newYear.Add(7*record.Day) {
		t.Errorf("%+v", p)
	}
}

func TestEveryBoundOfAPush(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in  NewPush
		bad string // the one field that is refused; "" for none
	}{
		"days least":             {NewPush{Days: ptr(2)}, ""},
		"days fewer":             {NewPush{Days: ptr(1)}, "expire_after_days"},
		"days most":              {NewPush{Days: ptr(90)}, ""},
		"days more":              {NewPush{Days: ptr(91)}, "expire_after_days"},
		"views least":            {NewPush{Views: ptr(2)}, ""},
		"views fewer":            {NewPush{Views: ptr(1)}, "expire_after_views"},
		"views most":             {NewPush{Views: ptr(100)}, ""},
		"views more":             {NewPush{Views: ptr(101)}, "expire_after_views"},
		"lifetime least":         {NewPush{Lifetime: record.Day + time.Minute}, ""},
		"lifetime shorter":       {NewPush{Lifetime: record.Day}, "expire_after_duration"},
		"lifetime longest":       {NewPush{Lifetime: 90 * record.Day}, ""},
		"lifetime longer":        {NewPush{Lifetime: 90*record.Day + time.Minute}, "expire_after_duration"},
		"end soonest":            {NewPush{ExpiresAt: newYear.Add(record.Day + time.Millisecond)}, ""},
		"end sooner":             {NewPush{ExpiresAt: newYear.Add(record.Day)}, "expires_at"},
		"end now":                {NewPush{ExpiresAt: newYear}, "expires_at"},
		"end long ago":           {NewPush{ExpiresAt: time.Time{}.Add(1)}, "expires_at"},
		"end latest":             {NewPush{ExpiresAt: newYear.Add(90 * record.Day)}, ""},
		"end later":              {NewPush{ExpiresAt: newYear.Add(90*record.Day + time.Millisecond)}, "expires_at"},
		"end never":              {NewPush{ExpiresAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, "expires_at"},
		"end in place of days":   {NewPush{ExpiresAt: newYear.Add(2 * record.Day), Days: ptr(91)}, ""},
		"opens soonest":          {NewPush{OpensAt: newYear.Add(time.Millisecond)}, ""},
		"opens now":              {NewPush{OpensAt: newYear}, "open_from"},
		"opens latest":           {NewPush{OpensAt: newYear.Add(7*record.Day - time.Millisecond)}, ""},
		"opens when it ends":     {NewPush{OpensAt: newYear.Add(7 * record.Day)}, "open_from"},
		"passphrase longest":     {NewPush{Passphrase: textOf(MaxPassphrase)}, ""},
		"passphrase longer":      {NewPush{Passphrase: textOf(MaxPassphrase + 1)}, "passphrase"},
		"name longest":           {NewPush{Name: textOf(MaxName)}, ""},
		"name longer":            {NewPush{Name: textOf(MaxName + 1)}, "name"},
		"note longest":           {NewPush{Note: textOf(MaxNote)}, ""},
		"note longer":            {NewPush{Note: textOf(MaxNote + 1)}, "note"},
		"text longest":           {NewPush{Payload: textOf(MaxText)}, ""},
		"text longer":            {NewPush{Payload: textOf(MaxText + 1)}, "payload"},
		"text blank":             {NewPush{Payload: secret.New(" \n\t\u00a0")}, "payload"},
		"qr longest":             {NewPush{Kind: record.QR, Payload: secret.New(strings.Repeat("é", MaxQR))}, ""},
		"qr longer":              {NewPush{Kind: record.QR, Payload: secret.New(strings.Repeat("é", MaxQR+1))}, "payload"},
		"qr blank":               {NewPush{Kind: record.QR, Payload: secret.New(" ")}, "payload"},
		"url":                    {NewPush{Kind: record.URL, Payload: secret.New("https://example.com/a?b#c")}, ""},
		"url in capitals":        {NewPush{Kind: record.URL, Payload: secret.New("HTTP://EXAMPLE.COM")}, ""},
		"url of another scheme":  {NewPush{Kind: record.URL, Payload: secret.New("javascript:alert(1)")}, "payload"},
		"url of a file":          {NewPush{Kind: record.URL, Payload: secret.New("file:///etc/passwd")}, "payload"},
		"url without a scheme":   {NewPush{Kind: record.URL, Payload: secret.New("//example.com")}, "payload"},
		"url without a host":     {NewPush{Kind: record.URL, Payload: secret.New("https:///a")}, "payload"},
		"url with a port only":   {NewPush{Kind: record.URL, Payload: secret.New("https://:80/")}, "payload"},
		"url with a user":        {NewPush{Kind: record.URL, Payload: secret.New("https://me@example.com")}, "payload"},
		"url with a line break":  {NewPush{Kind: record.URL, Payload: secret.New("https://example.com/\n")}, "payload"},
		"url with C1 control":    {NewPush{Kind: record.URL, Payload: secret.New("https://example.com/\u0085")}, "payload"},
		"url with a space ahead": {NewPush{Kind: record.URL, Payload: secret.New(" https://example.com")}, "payload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := test.in
			if in.Payload.IsZero() {
				in.Payload = textOf(1)
			}
			if in.Kind == 0 {
				in.Kind = record.Text
			}
			_, err := resolved(terms, in)
			got := strings.Join(badFields(t, err), ",")
			if got != test.bad {
				t.Errorf("refused %q, not %q", got, test.bad)
			}
		})
	}
}

func TestALifetimeCountsItsDaysRoundedUpAndDaysWin(t *testing.T) {
	t.Parallel()
	free := terms
	free.Days.Min = 1
	for _, test := range []struct {
		in   NewPush
		days int
		ends time.Duration
	}{
		{NewPush{Lifetime: 15 * time.Minute}, 1, 15 * time.Minute},
		{NewPush{Lifetime: record.Day}, 1, record.Day},
		{NewPush{Lifetime: record.Day + 1}, 2, record.Day + 1},
		{NewPush{Lifetime: time.Hour, Days: ptr(3)}, 3, 3 * record.Day},
		{NewPush{Lifetime: time.Hour, Days: ptr(3), ExpiresAt: newYear.Add(record.Day + 1)}, 2, record.Day + 1},
	} {
		test.in.Kind, test.in.Payload = record.Text, textOf(1)
		p, err := resolved(free, test.in)
		if err != nil || p.Days != test.days || p.ExpiresAt != newYear.Add(test.ends) {
			t.Errorf("%v: %d days, ends %v, %v", test.in.Lifetime, p.Days, p.ExpiresAt, err)
		}
	}
}

func TestAChoiceThatIsOffIsNo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		choice Choice
		asked  *bool
		want   bool
	}{
		{Choice{true, true}, nil, true},
		{Choice{true, false}, nil, false},
		{Choice{true, true}, ptr(false), false},
		{Choice{true, false}, ptr(true), true},
		{Choice{false, true}, nil, false},
		{Choice{false, true}, ptr(true), false},
	} {
		if got := test.choice.pick(test.asked); got != test.want {
			t.Errorf("%+v: %v", test.choice, got)
		}
	}
}

func TestAURLPushIsNeverDeletableByItsViewers(t *testing.T) {
	t.Parallel()
	in := NewPush{Kind: record.URL, Payload: secret.New("https://example.com"), DeletableByViewer: ptr(true)}
	if p, err := resolved(terms, in); err != nil || p.DeletableByViewer {
		t.Errorf("%v, %v", p.DeletableByViewer, err)
	}
}

func TestAKindThatIsOffIsRefusedByItsKindAlone(t *testing.T) {
	t.Parallel()
	_, err := resolved(Terms{}, NewPush{Kind: record.File})
	if got := badFields(t, err); !slices.Equal(got, []string{"kind"}) || err.Error() != "kind file pushes are disabled" {
		t.Errorf("%v: %v", got, err)
	}
}

func TestAllProblemsOfAPushAreToldTogether(t *testing.T) {
	t.Parallel()
	_, err := resolved(terms, NewPush{Kind: record.Text, Days: ptr(0), Views: ptr(0), Name: textOf(256)})
	if got := badFields(t, err); !slices.Equal(got, []string{"expire_after_days", "expire_after_views", "name", "payload"}) {
		t.Errorf("%v", got)
	}
}

func TestDaysAndViewsRemaining(t *testing.T) {
	t.Parallel()
	p := livePush()
	for _, test := range []struct {
		after time.Duration
		days  int
	}{{0, 7}, {time.Millisecond, 7}, {record.Day, 6}, {7*record.Day - time.Millisecond, 1}, {7 * record.Day, 0}, {8 * record.Day, 0}} {
		if got := p.DaysRemaining(newYear.Add(test.after)); got != test.days {
			t.Errorf("after %v: %d days", test.after, got)
		}
	}
	p.State = record.Deleted
	if p.DaysRemaining(newYear) != 0 {
		t.Error("a deleted push has days left")
	}
	for views, left := range map[int]int{0: 3, 2: 1, 3: 0, 4: 0} {
		p.Views = views
		if p.ViewsRemaining() != left {
			t.Errorf("after %d views %d are left", views, p.ViewsRemaining())
		}
	}
}

func TestUserAgentsAreCutInFrontOfACharacter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{strings.Repeat("a", 255), strings.Repeat("a", 255)},
		{strings.Repeat("a", 256), strings.Repeat("a", 255)},
		{strings.Repeat("é", 127), strings.Repeat("é", 127)},
		{strings.Repeat("é", 128), strings.Repeat("é", 127)},
		{strings.Repeat("\x80", 256), ""},
		{"", ""},
	} {
		if got := cut(test.text); got != test.want {
			t.Errorf("%d bytes became %d, not %d", len(test.text), len(got), len(test.want))
		}
	}
}
