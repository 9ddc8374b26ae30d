// Package seal makes what pushbox writes unreadable to whoever lacks a key.
//
// # What it protects
//
// A push can be read by somebody who has the database, the key file and the
// link to the push, and its passphrase if it has one; lacking any of them,
// nobody can. Whoever changes a sealed record, cuts it short, or puts it in
// the place of another is found out when it is opened.
//
// A download grant stands in for link and passphrase, for the files of a push
// alone: they can be read by somebody who has the database, the key file and the
// token of a grant that has not ended.
//
// It does not hide how many records there are, how long they are, or when they
// were written; it does not notice a record that was removed or put back as it
// once was; and it cannot help against somebody who controls the running
// server.
//
// # The keys
//
//	root key    32 random bytes, in a key file that is kept apart (RootKey)
//	key ring    sealed under the root key, in the database (Ring):
//	              id key       names records by their token without keeping it
//	              audit key    seals audit entries, and parts of accounts
//	              KEKs         key encryption keys, a new one each month
//	DEK         32 random bytes for each push
//	A           Argon2id(passphrase, salt; 2 passes, 19 MiB, 1 thread), or nothing
//
//	id          HMAC-SHA256(id key, token), first 16 bytes
//	key ring    sealed under HKDF(root key, "pushbox key ring 1")
//	wrap        DEK, sealed under HKDF(KEK ‖ token ‖ A, salt, "pushbox wrap 1")
//	payload     sealed under HKDF(DEK, "pushbox payload 1")
//	details     sealed under HKDF(KEK, "pushbox details 1")
//	entry       sealed under HKDF(audit key, "pushbox entry 1")
//	account     where its sessions were begun, the secret of its second factor:
//	            sealed under HKDF(audit key, "pushbox account 1")
//	files key   HKDF(DEK, "pushbox files 1"): opens the files of a push and
//	            nothing else of it
//	file        sealed in chunks under HKDF(files key, blob id, "pushbox file 1")
//	list        of the files, sealed under HKDF(files key, "pushbox file list 1")
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
//	version 1 ‖ algorithm 1 ‖ fields ‖ nonce 24 ‖ ciphertext ‖ tag 16
//
// sealed with XChaCha20-Poly1305: RFC 8439 with the longer nonce of
// draft-irtf-cfrg-xchacha, long enough to be chosen at random. Numbers are big
// endian. All that stands in front of the nonce is authenticated, and so is
// what the record belongs to:
//
//	            fields                                      authenticated
//	key ring    none                                        head
//	wrap        KEK 4 ‖ memory 4 ‖ passes 1 ‖ threads 1 ‖   push id ‖ head
//	            salt 16
//	payload     none                                        head ‖ push id ‖ kind
//	details     KEK 4                                       head ‖ push id
//	entry       none                                        head ‖ entry id
//	account     none                                        head ‖ digest of a
//	                                                        session 32, or
//	                                                        account number 8
//	list        none                                        head ‖ push id
//	grant       KEK 4                                       head ‖ push id
//
// Argon2's numbers are all zero in the wrap of a push without a passphrase. No
// verifier of a passphrase is kept: a wrong one is a wrap that does not open.
// testdata has an example of each, made by a second implementation.
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
// Sealing the key ring anew under another root key changes the root key and
// nothing else. A KEK seals pushes that were created, and grants that were
// issued, in its period; once none of them exists any more the KEK is dropped,
// and copies of their records are unreadable even with the key file.
package seal
