// Package seal makes what pushbox writes unreadable without its keys.
//
// # What it protects
//
// Reading a push needs the database, the key file and the link to the push, and its passphrase if
// it has one. A sealed record that was changed, cut short, or put in the place of another cannot be
// decrypted.
//
// A download grant replaces link and passphrase for the files of a push: to read them needs the
// database, the key file and the token of a grant that has not ended.
//
// It does not hide how many records there are, how long they are, or when they
// were written; it does not notice a record that was removed or put back as it
// once was; and it cannot help against an attacker who controls the running
// server.
//
// # The keys
//
//	root key    32 random bytes, in a key file that is kept apart (RootKey)
//	key ring    sealed under the root key, in the database (Ring):
//	              id key       names records by their token without keeping it
//	              and keys with a version, in families:
//	              KEKs         key encryption keys, a new one each month: seal the
//	                           keys and links of pushes, and grants
//	              detail keys  seal what stays when a push ends, webhooks, messages
//	              audit keys   seal audit entries, events, and parts of accounts
//	              row keys     authenticate rows of the database
//	DEK         32 random bytes for each push
//	A           Argon2id(passphrase, salt; 2 passes, 19 MiB, 1 thread), or nothing
//
//	id          HMAC-SHA256(id key, token), first 16 bytes
//	key ID      HKDF(root key, "pushbox key id 1"), first 4 bytes
//	key ring    sealed under HKDF(root key, "pushbox key ring 1")
//	wrap        DEK, sealed under HKDF(KEK ‖ token ‖ A, salt, "pushbox wrap 1")
//	payload     sealed under HKDF(DEK, "pushbox payload 1")
//	link        the token, for the owner of the push: sealed under
//	            HKDF(KEK, "pushbox link 1")
//	details     name and note of a push, sealed under
//	            HKDF(detail key, "pushbox details 1")
//	webhook     its address and the secret that it signs with, sealed under
//	            HKDF(detail key, "pushbox webhook 1")
//	message     what a mail or a message to a webhook says, while it waits to be
//	            sent: sealed under HKDF(detail key, "pushbox message 1")
//	request     the text and the token of a request for secrets, sealed under
//	            HKDF(detail key, "pushbox request 1")
//	entry       sealed under HKDF(audit key, "pushbox entry 1")
//	event       of the instance log: sealed under HKDF(audit key, "pushbox event 1")
//	account     where its sessions were begun, the secret of its second factor:
//	            sealed under HKDF(audit key, "pushbox account 1")
//	row         authenticated by HMAC-SHA256(row key, bucket ‖ 0 ‖ length of its
//	            key 4 ‖ its key ‖ its value)
//	files key   HKDF(DEK, "pushbox files 1"): opens the files of a push and
//	            nothing else of it
//	file        sealed in chunks under HKDF(files key, blob id, "pushbox file 1")
//	list        of the files, sealed under HKDF(files key, "pushbox file list 1")
//	repeat      the token of a push, for its sender who sends the create again: sealed
//	            under HKDF(id key, the sender's key, "pushbox repeat 1")
//	certificate signed by Ed25519 under the seed HKDF(id key, "pushbox certificate 1")
//	grant       files key, sealed under HKDF(KEK ‖ grant token, "pushbox grant 1")
//
// HKDF is that of RFC 5869 with SHA-256, Argon2id that of RFC 9106. The info
// texts differ, so no key serves two purposes. Tokens of one length are meant:
// what follows a token in the wrap's key is then never mistaken for part of it.
// So are blob ids of one length, for as a salt one is the same with zeros behind
// it. A blob id names one file of a push for good; among pushes it may recur.
//
// # The envelopes
//
// Everything sealed but the chunks of files has the form
//
//	version 1 ‖ algorithm 1 ‖ key 0, 2 or 4 ‖ fields ‖ nonce 24 ‖ ciphertext ‖ tag 16
//
// sealed with XChaCha20-Poly1305: RFC 8439 with the longer nonce of
// draft-irtf-cfrg-xchacha, long enough to be chosen at random. Numbers are big
// endian. All that precedes the nonce is authenticated, and so is
// what the record belongs to:
//
//	            version  key           fields             authenticated
//	key ring    2        none          none               head
//	wrap        1        a KEK 4       memory 4 ‖         push id ‖ head
//	                                   passes 1 ‖
//	                                   threads 1 ‖
//	                                   salt 16
//	payload     1        none          none               head ‖ push id ‖ kind
//	link        1        a KEK 4       none               head ‖ push id
//	details     2        a detail key  none               head ‖ push id
//	webhook     2        a detail key  none               head ‖ account number 8 ‖
//	                                                      time 8
//	message     2        a detail key  none               head ‖ route 1 ‖
//	                                                      recipient 8 ‖ time 8
//	request     2        a detail key  none               head ‖ request id
//	entry       2        an audit key  none               head ‖ push id
//	event       2        an audit key  none               head ‖ digest 32 of its
//	                                                      salt and plain text
//	account     2        an audit key  none               head ‖ digest of a
//	                                                      session 32, or
//	                                                      account number 8
//	list        1        none          none               head ‖ push id
//	repeat      1        none          none               head ‖ repeat id ‖ digest 32
//	                                                      of the create's fields
//	grant       1        a KEK 4       none               head ‖ push id
//
// The key is its version in the ring, in 2 bytes where the table has no number.
//
// Argon2's numbers are all zero in the wrap of a push without a passphrase. No
// verifier of a passphrase is kept: a wrong one is a wrap that does not open.
// testdata has an example of each, made by a second implementation.
//
// Databases of pushbox 3.0 had no families. A key ring of version 1 has the id key, one
// audit key and KEKs. Its audit key is read as version 1 of the audit keys; version 1
// of the detail keys is HKDF(audit key, "pushbox detail key 1"), and of the row keys
// HKDF(audit key, "pushbox row key 1"). Details, webhooks and messages of version 1
// name a KEK in 4 bytes, which seals them instead of a detail key; entries and accounts
// of version 1 name no key and mean version 1 of the audit keys. All of them still
// open.
//
// # The files
//
// A file is cut into chunks of 64 KiB, the last of 1 byte to 64 KiB; only an
// empty file has an empty one. Each is sealed by itself as
//
//	ciphertext ‖ tag 16
//
// with ChaCha20-Poly1305 (RFC 8439) and the nonce
//
//	number of the chunk, from 0, 11 ‖ 1 if it is the last, else 0, 1
//
// authenticating nothing beside it: the STREAM construction, as in age. The key
// says which file a chunk belongs to, the nonce where in it. So any chunk can be
// opened without the others, and what is refused is a file whose chunks were cut
// off, moved, taken from another file or push, or added to. Nonces do not repeat
// under a key, for a chunk is sealed once: an upload that begins again is
// another file, under another blob id or DEK.
//
// # Rotation
//
// Sealing the key ring anew under another root key changes the root key and nothing
// else. A KEK seals pushes that were created, and grants that were issued, in its
// period; once all of those have ended the KEK is dropped, and copies of their records
// are unreadable even with the key file. Nothing that outlives its push is sealed under
// a KEK. The other families get new keys when the root key does, and lose the old ones
// when all that they sealed is sealed anew.
package seal
