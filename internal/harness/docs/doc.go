// Package docs does what the manuals and the files of deploy say, with pushbox itself.
//
//   - The commands of README.md, docs/api.md, docs/operating.md, docs/backup.md, docs/keys.md
//     and docs/upgrading.md run one after the other and must print what is written under
//     them. -update writes what they print into README.md and docs/api.md.
//   - The receiver of docs/webhooks.md verifies a message, the commands of docs/mail.md
//     send mails through aiosmtpd, and the recipes of docs/listeners.md and the sub-path of
//     docs/proxies.md serve what they promise.
//   - The units, the image and the Kubernetes and Compose files of deploy give settings
//     that exist, and `systemd-analyze security` rates the unit's exposure as low.
//   - Numbers in documents equal those in the code.
//   - The program serves HTTPS by itself, and fetches a certificate from Pebble although
//     it is killed during the order (docs/tls.md).
//   - TestEverythingWorksTogether runs one server with HTTPS, two listeners, a sub-path,
//     metrics, webhooks and backups: it upgrades a database, gets another key and certificate,
//     is killed while a message waits, and is restored from its backup.
//
// What needs curl, python3, aiosmtpd, openssl, nginx or systemd is skipped where that is
// missing.
//
//	go test ./internal/harness/docs
package docs
