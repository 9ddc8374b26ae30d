package server

import (
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// actNames are the acts of accounts that the API has a path for.
func actNames() (names []string) {
	for _, act := range accountActs {
		if !act.Typed {
			names = append(names, act.Name)
		}
	}
	return names
}

// inviteFields documents the fields of an account to invite.
func inviteFields() []apiField {
	return []apiField{
		{name: emailField, in: "body", text: "The address of the account, which counts as confirmed. Required.", schema: openapi.Text()},
		{name: adminField, in: "body", text: "Whether it is an administrator's.", fallback: "false", schema: &openapi.Schema{Type: openapi.Types{"boolean"}}},
		{name: store.FieldMail, in: "body", text: "Whether the link is mailed to the address. Then the answer has it only if it could not be mailed.", fallback: "false", schema: &openapi.Schema{Type: openapi.Types{"boolean"}}},
	}
}

// schemaNewAccount is the name of the schema of an account to invite. With JSON or Form behind
// it, it is that of the body.
const schemaNewAccount = "NewAccount"

// inviteBody documents the body of an invitation, in each media type.
func inviteBody(schemas *openapi.Ordered[*openapi.Schema]) *openapi.Body {
	how := spelling{wrapper: accountWrapper}
	var form openapi.Ordered[any]
	for _, m := range exampleInvitation() {
		form.Add(how.bracketed(m.Name), m.Value)
	}
	named := map[string]func(string) string{
		schemaNewAccount:          func(name string) string { return name },
		schemaNewAccount + "Form": how.bracketed,
	}
	for _, name := range []string{schemaNewAccount, schemaNewAccount + "Form"} {
		schema := &openapi.Schema{Type: openapi.Types{"object"}, Required: []string{named[name](emailField)}, Description: "An account to invite. Unknown keys are ignored."}
		for _, f := range inviteFields() {
			schema.Properties.Add(named[name](f.name), f.describe())
		}
		schemas.Add(name, schema)
	}
	schemas.Add(schemaNewAccount+"JSON", &openapi.Schema{
		Type: openapi.Types{"object"}, Required: []string{accountWrapper},
		Properties: openapi.Ordered[*openapi.Schema]{{Name: accountWrapper, Value: openapi.Ref(schemaNewAccount)}},
	})
	media := openapi.Media{Schema: openapi.Ref(schemaNewAccount + "Form"), Example: form}
	return &openapi.Body{Required: true, Content: openapi.Ordered[openapi.Media]{
		{Name: body.TypeJSON, Value: openapi.Media{Schema: openapi.Ref(schemaNewAccount + "JSON"), Example: openapi.Ordered[any]{{Name: accountWrapper, Value: exampleInvitation()}}}},
		{Name: body.TypeForm, Value: media},
		{Name: body.TypeMultipart, Value: media},
	}}
}

// exampleInvitation are the fields of an account to invite.
func exampleInvitation() openapi.Ordered[any] {
	return openapi.Ordered[any]{{Name: emailField, Value: "ann@example.com"}, {Name: adminField, Value: false}}
}

// invalidInvitation is an example of an error in these fields.
func invalidInvitation() *record.InvalidError {
	var bad record.InvalidError
	bad.Add(emailField, "is not an e-mail address")
	return &bad
}

// unmailable is the error of mail that cannot be sent to an account.
func unmailable() *record.InvalidError {
	var bad record.InvalidError
	bad.Add(store.FieldMail, "cannot be sent: this server sends no mail, or none to such an address")
	return &bad
}

// exampleMember is an account.
func exampleMember() accountJSON {
	one := record.Account{ID: 2, Email: "ann@example.com", CreatedAt: exampleAt(), PasswordHash: "hash", SignedInAt: exampleAt().Add(time.Hour)}
	return newAccountJSON(one, record.Room{Pushes: 3, Bytes: 4096})
}

func (s *Server) exampleAccount(string) any { return exampleMember() }

func (s *Server) exampleAccounts(string) any {
	return accountsJSON{Accounts: []accountJSON{exampleMember()}, Next: new(record.AccountID(2))}
}

func (s *Server) exampleActed(string) any {
	return newChangedJSON(exampleMember(), store.PasswordLink{}, "")
}

func (s *Server) exampleInvited(base string) any {
	one := record.Account{ID: 2, Email: "ann@example.com", CreatedAt: exampleAt()}
	link := store.PasswordLink{Code: secret.New("AAAAAAAAAAIAAAAAaSBOPZ4vCkqQ6nDX0mVwYc1r3kE"), Until: exampleAt().Add(7 * day)}
	return newChangedJSON(newAccountJSON(one, record.Room{}), link, base)
}

func (s *Server) exampleLog(string) any {
	e := store.AdminEventInfo{
		AdminEvent: record.AdminEvent{Number: 7, Kind: record.AdminAccountDisable, At: exampleAt(), Account: 2},
		By:         store.Actor{Role: store.Admin, Account: 1, IP: "192.0.2.1"}, Email: "ann@example.com",
	}
	return logJSON{Events: []store.AdminLine{e.Line()}, Next: new(uint64(7))}
}

func (s *Server) exampleFindings(string) any {
	return newFindingsJSON([]Finding{
		{Check: "server", Grade: "ok", Text: "version 3.0.0 is running"},
		{Check: "backups", Grade: "warning", Text: "the server makes none by itself", Cure: "set backup.schedule"},
	})
}

func (s *Server) exampleSettings(string) any {
	return newSettingsJSON([]config.Value{
		{Key: "base_url", Value: `"https://push.example.com"`, Origin: "environment PUSHBOX_BASE_URL", Reload: true},
		{Key: "master_key", Value: "[redacted]", Origin: "environment PUSHBOX_MASTER_KEY"},
	})
}
