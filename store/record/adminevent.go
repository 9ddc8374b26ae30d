package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// MaxAdminEvents is how many events the instance log keeps; then the oldest are removed.
const MaxAdminEvents = 100_000

// An AdminKind says what an event of the instance log reports.
type AdminKind uint8

// The kinds of event. The numbers are stored.
const (
	AdminAccountCreate AdminKind = 1 + iota
	AdminAccountDisable
	AdminAccountEnable
	AdminAccountRemove
	AdminAccountRemoved
	AdminPassword
	AdminFactorAdd
	AdminFactorRemove
	AdminRecoveryCodes
	AdminSignIn
	AdminFirstFactor
	AdminSignInRefused
	AdminSignOut
	AdminSessionEnd
	AdminTokenCreate
	AdminTokenRevoke
	AdminTokenRefused
	AdminWebhookAdd
	AdminWebhookRemove
	AdminWebhookDisable
	AdminWebhookEnable
	AdminKeysCreate
	AdminKeysRenew
	AdminKeyRotate
	AdminBackup
	AdminRestore
	AdminCompact
	AdminReload
	AdminReloadRefused
	AdminMoreRefused
	AdminImport
	AdminAccountRename
	AdminPushesExpire
	AdminPurge
	AdminAddressConfirm
	AdminCodeRefused
	AdminGrant
	AdminRevoke
	AdminAccessEnd
	AdminPasswordLink
	AdminIdentityLink
	AdminProviderSignOut
	AdminPasskeyAdd
	AdminPasskeyRemove
	AdminIdentityUnlink
	AdminPolicyChange
	AdminAccountEdit
	adminKindCount
)

// adminKinds are the names of the kinds on the wire, and what they report.
var adminKinds = [adminKindCount]struct{ name, says string }{
	AdminAccountCreate:   {"account_create", "an account was added"},
	AdminAccountDisable:  {"account_disable", "an account was disabled, and its sessions ended"},
	AdminAccountEnable:   {"account_enable", "a disabled account was enabled again"},
	AdminAccountRemove:   {"account_remove", "the removal of an account began: it can no longer do anything"},
	AdminAccountRemoved:  {"account_removed", "the account is gone, with its pushes, tokens and webhooks"},
	AdminPassword:        {"password_change", "an account got a new password, and its other sessions ended"},
	AdminFactorAdd:       {"second_factor_add", "an account got a second factor"},
	AdminFactorRemove:    {"second_factor_remove", "a second factor of an account was removed"},
	AdminRecoveryCodes:   {"recovery_codes", "an account got new recovery codes"},
	AdminSignIn:          {"sign_in", "a session began"},
	AdminFirstFactor:     {"first_factor", "the password or the provider was right, and the second factor is still missing"},
	AdminSignInRefused:   {"sign_in_refused", "a password, a code or a passkey was wrong, a person at a provider may not sign in, or there were too many tries"},
	AdminSignOut:         {"sign_out", "a session ended, because its user signed out"},
	AdminSessionEnd:      {"session_end", "a session was ended from the list of sessions"},
	AdminTokenCreate:     {"token_create", "an API token was made"},
	AdminTokenRevoke:     {"token_revoke", "an API token was revoked"},
	AdminTokenRefused:    {"token_refused", "a request had an API token that is not valid"},
	AdminWebhookAdd:      {"webhook_add", "a webhook was added"},
	AdminWebhookRemove:   {"webhook_remove", "a webhook was removed"},
	AdminWebhookDisable:  {"webhook_disable", "a webhook was disabled"},
	AdminWebhookEnable:   {"webhook_enable", "a disabled webhook was enabled again"},
	AdminKeysCreate:      {"keys_create", "the key ring of a new database was made"},
	AdminKeysRenew:       {"keys_renew", "a key was added to the key ring, and keys without use were dropped"},
	AdminKeyRotate:       {"key_rotate", "the master key was replaced"},
	AdminBackup:          {"backup", "a backup was made"},
	AdminRestore:         {"restore", "the database was restored from a backup"},
	AdminCompact:         {"compact", "unused space was given back to the file system"},
	AdminReload:          {"reload", "the configuration was read again and is in force"},
	AdminReloadRefused:   {"reload_refused", "the configuration was read again and has a mistake: nothing changed"},
	AdminMoreRefused:     {"more_refused", "more sign-ins and API tokens were refused; this event counts those without their own event"},
	AdminPurge:           {"purge", "live pushes without an account were removed"},
	AdminImport:          {"import", "accounts and pushes of another server were imported"},
	AdminAccountRename:   {"account_rename", "an account got another address"},
	AdminPushesExpire:    {"pushes_expire", "all live pushes of an account were ended"},
	AdminAddressConfirm:  {"address_confirm", "the address of an account was confirmed"},
	AdminCodeRefused:     {"code_refused", "the last try for the code that was mailed to an address was wrong"},
	AdminGrant:           {"admin_grant", "an account became an administrator"},
	AdminRevoke:          {"admin_revoke", "administrator rights were removed from an account"},
	AdminPasswordLink:    {"password_link", "a link was made that sets the password of an account"},
	AdminAccessEnd:       {"access_end", "all sessions of an account were ended"},
	AdminIdentityLink:    {"identity_link", "an account was linked to a person whom a sign-in provider knows"},
	AdminProviderSignOut: {"provider_sign_out", "sessions ended, because a sign-in provider ended its own"},
	AdminPasskeyAdd:      {"passkey_add", "an account got a passkey"},
	AdminPasskeyRemove:   {"passkey_remove", "a passkey of an account was removed"},
	AdminIdentityUnlink:  {"identity_unlink", "the links of an account to sign-in providers were removed, and its sessions ended"},
	AdminPolicyChange:    {"policy_change", "an account got another policy, or none"},
	AdminAccountEdit:     {"account_edit", "an account got another name, language or choice of mails"},
}

// AdminKinds lists the kinds of event.
func AdminKinds() (all []AdminKind) {
	for k := AdminKind(1); k < adminKindCount; k++ {
		all = append(all, k)
	}
	return all
}

// String is the kind's name on the wire; empty if there is no such kind.
func (k AdminKind) String() string {
	if k < adminKindCount {
		return adminKinds[k].name
	}
	return ""
}

// Says returns what an event of this kind reports, in a sentence without a period.
func (k AdminKind) Says() string {
	if k < adminKindCount {
		return adminKinds[k].says
	}
	return ""
}

// An AdminEvent is an event of the instance log as it is stored: what an actor did to the instance
// or to an account. The actor is sealed. The engine sets the number and the chain.
type AdminEvent struct {
	Number  uint64 // from 1, without a gap
	Kind    AdminKind
	At      time.Time
	Account AccountID // the account that it is about; 0: none, or it does not exist
	Subject uint64    // the TokenID or HookID that it is about; 0: none
	Digest  [32]byte  // digest of the sealed text, which begins with a random salt
	Sealed  []byte
	Chain   [32]byte // covers this event and all before it: see Link
}

// Link returns the Chain of an event behind an event with the given Chain, which is zero for the
// first one. The chain contains only the digest of the sealed text, so that the text can be
// resealed under another key.
func (e AdminEvent) Link(before [32]byte) [32]byte {
	b := binary.BigEndian.AppendUint64(append(make([]byte, 0, 128), before[:]...), e.Number)
	return sha256.Sum256(e.appendFixed(b))
}

func (e AdminEvent) appendFixed(b []byte) []byte {
	b = AppendTime(append(b, recordVersion, byte(e.Kind)), e.At)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(e.Account)), e.Subject)
	return append(b, e.Digest[:]...)
}

// AppendBinary appends the event's record to b. The number is not part of it: it is the
// key.
func (e AdminEvent) AppendBinary(b []byte) ([]byte, error) {
	return AppendBytes(append(e.appendFixed(b), e.Chain[:]...), e.Sealed), nil
}

// UnmarshalBinary reads a record and leaves the number as it is. The event shares no
// memory with b.
func (e *AdminEvent) UnmarshalBinary(b []byte) error {
	r := Reader{Rest: b}
	r.Version()
	f := AdminEvent{Number: e.Number, Kind: AdminKind(r.Byte()), At: r.Time()}
	f.Account, f.Subject = AccountID(r.Uvarint(1<<64-1)), r.Uvarint(1<<64-1)
	f.Digest, f.Chain = [32]byte(r.Take(32)), [32]byte(r.Take(32))
	f.Sealed = r.Bytes()
	if err := r.End(); err != nil || f.Kind.String() == "" {
		return ErrRecord
	}
	*e = f
	return nil
}

// ChangesHooks reports whether the event may have changed webhooks, or what they and the mails of
// accounts depend on.
func (e AdminEvent) ChangesHooks() bool {
	switch e.Kind {
	case AdminSignIn, AdminFirstFactor, AdminSignInRefused, AdminSignOut, AdminSessionEnd, AdminProviderSignOut,
		AdminTokenCreate, AdminTokenRevoke, AdminTokenRefused, AdminCodeRefused, AdminMoreRefused:
		return false
	default:
		return true
	}
}

// Key is the number.
func (e AdminEvent) Key() []byte { return NumberKey(e.Number) }

// Title is the number.
func (e AdminEvent) Title() string { return fmt.Sprintf("event %d", e.Number) }

// Belongs returns 0: an event outlives the account that it is about.
func (AdminEvent) Belongs() AccountID { return 0 }

func readEvent(key []byte) (e AdminEvent, ok bool) {
	if len(key) != 8 {
		return e, false
	}
	return AdminEvent{Number: binary.BigEndian.Uint64(key)}, true
}
