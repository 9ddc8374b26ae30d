// Package pwpush reads the data of a Password Pusher server (its open source edition, 1.13 to
// 2.11): a dump of its database as plain SQL, and its directory of files.
//
// Reader yields the rows of a dump that `sqlite3 FILE .dump`, `pg_dump` (with COPY or INSERT) or
// `mysqldump` wrote. It holds one row at a time and needs no database. Keys.Open decrypts what
// Lockbox encrypted, and Storage has the content of files. The callers decide what to do with the
// data. The tests have dumps of the schemas of 1.55.0 and 2.11.4.
//
// # Where Password Pusher keeps what
//
// These facts are from its source (db/schema.rb, db/migrate, app/models, config) at the
// tags named, and from Lockbox 2.2.
//
// Pushes. From 1.56 on in pushes, whose kind is 0 text, 1 file, 2 url or 3 qr. Before that
// (v1.55.0) in passwords, file_pushes and urls, which have no kind; urls has no
// deletable_by_viewer. 1.56 copies them in the background (app/jobs/migrate_data_to_push_model_job.rb),
// with their url_tokens and their encryption under the new table's keys, and leaves the old rows;
// 1.56.4 refuses to start before that is done, and drops the old tables. So a dump of 1.56 can have
// a push twice, with one url_token: the row of pushes counts. name came with 1.54, passphrase with
// 1.28, API tokens with 1.17, and before 1.13 payloads were encrypted in another way.
//
// The url_token is SecureRandom.urlsafe_base64 of 8 to 14 bytes in lower case, so 11 to 19
// characters of a to z, 0 to 9, - and _ (app/models/push.rb).
//
// Limits. A push ends expire_after_days × 24 hours after created_at, and when the entries of
// the kinds view and failed_view are as many as expire_after_views. It is marked as expired only
// when a request or a job comes by, so a dump has rows past their limits that are not marked.
// Expiring removes payload, passphrase and files; note and name stay.
//
// Entries. From 1.56 on in audit_logs, kind 0 creation, 1 view, 2 failed_view, 3 expire (by
// a person), 4 failed_passphrase, 5 admin_view, 6 owner_view, 7 edit, 8 creation_email_send
// (app/models/audit_log.rb). Before that in views: kind 0 is a view, or a failed one if
// successful is false, and 1 a delete by a person. Entries that 1.56 made itself have the
// address 127.0.0.1.
//
// Encryption. payload, note, passphrase and otp_secret are in columns that end in _ciphertext
// (Lockbox's has_encrypted): base64 of a nonce of 12 bytes, the text under AES-256-GCM, and a
// tag of 16 bytes, without further data. The key is HKDF-SHA-384 of the master key, with the
// name of the table as salt, and 32 bytes 0xB4 and the name of the column as info. NULL and
// the empty text are not encrypted. The master key is PWPUSH_MASTER_KEY, 64 hexadecimal digits;
// without it, a key in the source (config/initializers/lockbox.rb). Names, e-mail addresses and
// files are not encrypted.
//
// Accounts. users has bcrypt hashes of cost 12 without a pepper (config/initializers/devise.rb,
// $2a$12$...), and one API token a user in clear, authentication_token, of 20 characters. There
// is no table of tokens. The recovery codes of a second factor are HMACs under SECRET_KEY_BASE.
//
// Files. Active Storage: active_storage_blobs has the name, type, size, MD5 and key of a file, and
// active_storage_attachments its push (record_type Push, before 1.56 FilePush). With the service
// local, the default, the content is in storage/ab/cd/abcd..., as it was uploaded.
//
// Times are in UTC. Nothing else of the database matters: sessions and jobs are in tables or files
// of their own, and the recipients of mails are in notify_by_emails, encrypted.
package pwpush
