package store

// Names of the fields of a push: in an *InvalidError, in the API, and in the forms of
// pages.
const (
	FieldKind          = "kind"
	FieldPayload       = "payload"
	FieldPassphrase    = "passphrase"
	FieldName          = "name"
	FieldNote          = "note"
	FieldFiles         = "files"
	FieldDays          = "expire_after_days"
	FieldDuration      = "expire_after_duration" // a code, in place of days
	FieldViews         = "expire_after_views"
	FieldRetrievalStep = "retrieval_step"
	FieldDeletable     = "deletable_by_viewer"
	FieldMailTo        = "notify_emails_to"
	FieldMailLanguage  = "notify_emails_to_locale"
)

// FieldMail is whether an invitation is mailed.
const FieldMail = "mail"

// Names of the fields of a request, beside FieldDays and FieldDuration of its own time limit.
const (
	FieldText           = "text"
	FieldKinds          = "kinds"
	FieldMaxAnswers     = "max_answers"
	FieldAnswerDays     = "answer_expire_after_days"
	FieldAnswerDuration = "answer_expire_after_duration"
	FieldAnswerViews    = "answer_expire_after_views"
	FieldAnswerStep     = "answer_retrieval_step"
	FieldX25519         = "public_key_x25519"
	FieldP256           = "public_key_p256"
)

// FieldWrappedKey is the field of an answer with the key of its envelope.
const FieldWrappedKey = "wrapped_key"

// FieldPolicy is the field of an account's policy in an *InvalidError.
const FieldPolicy = "policy"

// FieldPassword is the field of an account's password in an *InvalidError.
const FieldPassword = "password"
