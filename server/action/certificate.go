package action

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"pushbox/internal/certificate"
	"pushbox/server/display"
	"pushbox/store"
)

// What a certificate says of each engine, and of both.
var (
	inFile = []certificate.Method{
		{Technique: "Cryptographic Erase", Complete: true, How: "The content and the files were encrypted under a data encryption key of this push alone. The only copy of that key, wrapped, was deleted, and the pages of the database file that had held it were overwritten with zeros."},
		{Technique: "Clear", Complete: true, How: "The pages of the database file that had held the encrypted content, the encrypted files and the link were overwritten with zeros. Where the file system allows it, many such pages in one piece were given back to it instead, and read as zeros."},
	}
	inPostgreSQL = []certificate.Method{
		{Technique: "Cryptographic Erase", How: "The content and the files were encrypted under a data encryption key of this push alone. The wrapped key, the encrypted content, the encrypted files and the link were deleted from the PostgreSQL database. Dead rows keep their bytes until a vacuum, and the write-ahead log and standbys longer. They can be read only with the master key, the link and the passphrase, if there was one, until the server drops the key encryption key of that month."},
	}
	verifiedRecord = "When this was issued, the record of the push had ended, and had no wrapped key, no content, no files and no link."
	verifiedFile   = "After the end, the server's list of pages that deletions had freed and that were not overwritten yet was followed until none was left, and the overwriting was synced to the disk. The pages were not read back."
	verifiedShared = "Nothing was verified below the rows of the database."
	replacedFile   = "the file that a compaction has just replaced, until the server has overwritten it, which it does when nothing reads it"
	notVouched     = []string{
		"backups, snapshots and other copies of the database that were made before the end",
		"what file systems, virtual disks and storage devices keep of overwritten or released blocks, such as by copy on write or wear levelling",
		"what recipients, their programs and systems between them and the server keep",
		"memory of the server and swap",
	}
)

// Certificate returns a signed certificate of the end of a push, for its sender. window is how long
// the last view of a push may stay in memory. The errors are those of store.End.
func Certificate(r *Request, st *store.Store, by store.Actor, window time.Duration) (certificate.File, error) {
	e, err := st.End(r.Context(), by, r.Push, window)
	if err != nil {
		return certificate.File{}, err
	}
	s := certificate.Statement{
		Server: r.Base, IssuedAt: display.Stamp(e.At), NotVouched: notVouched,
		Push: certificate.Push{
			Handle: e.Handle().String(), Kind: e.Kind.String(), ClientEncrypted: e.ClientEncrypted,
			CreatedAt: display.Stamp(e.CreatedAt), EndedAt: display.Stamp(e.ExpiredAt), Cause: string(e.Cause), Views: e.Views, ViewLimit: e.ViewLimit,
		},
	}
	if !e.Token.IsZero() {
		sum := sha256.Sum256([]byte(e.Token.Reveal()))
		s.Push.TokenSHA256 = hex.EncodeToString(sum[:])
	}
	if e.Cause == store.EndedByDelete {
		s.Push.DeletedBy = []string{"sender", "administrator"}
		if e.DeletableByViewer {
			s.Push.DeletedBy = append(s.Push.DeletedBy, "recipient")
		}
	}
	if e.ErasedAt.IsZero() {
		s.Methods, s.Verified = inPostgreSQL, []string{verifiedRecord, verifiedShared}
	} else {
		s.IssuedAt = display.Stamp(e.ErasedAt)
		s.Methods, s.Verified = inFile, []string{verifiedRecord, verifiedFile}
		s.NotVouched = append([]string{replacedFile}, notVouched...)
	}
	return certificate.Make(s, st.Certify)
}
