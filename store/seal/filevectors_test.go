package seal

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

//go:embed testdata/files.json
var filesJSON []byte

// fileVectors are the values that testdata/files.py made, of the push of vectors.
type fileVectors struct {
	FilesKey hexBytes `json:"files_key"`
	BlobID   hexBytes `json:"blob_id"`
	Files    []struct {
		Size         int      `json:"size"`
		SealedSize   int64    `json:"sealed_size"`
		SealedSHA256 hexBytes `json:"sealed_sha256"`
	} `json:"files"`
	ChunkNumber uint64   `json:"chunk_number"`
	Chunk       string   `json:"chunk"`
	SealedChunk hexBytes `json:"sealed_chunk"`
	GrantToken  string   `json:"grant_token"`
	List        string   `json:"list"`
	SealedList  hexBytes `json:"sealed_list"`
	SealedGrant hexBytes `json:"sealed_grant"`
}

func loadFileVectors(t testing.TB) (v vectors, f fileVectors, ring *Ring) {
	t.Helper()
	v, _, ring = loadVectors(t)
	env.OK(t, json.Unmarshal(filesJSON, &f))
	return v, f, ring
}

// A chunk has no random part: sealed again it must have the same bytes.
func TestTheFrozenFilesAreSealedTheSame(t *testing.T) {
	t.Parallel()
	v, f, _ := loadFileVectors(t)
	c := DEK{keyOf(v.DEK)}.FilesKey().File(f.BlobID)
	if len(f.Files) != len(sizes) {
		t.Fatalf("there are %d files", len(f.Files))
	}
	for _, file := range f.Files {
		plain := pattern(file.Size)
		sealed := sealFile(c, plain)
		all := slices.Concat(sealed...)
		if sum := sha256.Sum256(all); string(sum[:]) != string(file.SealedSHA256) {
			t.Errorf("%d bytes: the digest is %x, not %x", file.Size, sum, file.SealedSHA256)
		}
		if int64(len(all)) != file.SealedSize || SealedSize(int64(file.Size)) != file.SealedSize {
			t.Errorf("%d bytes: they are sealed in %d", file.Size, len(all))
		}
		if back, err := openFile(c, sealed); err != nil || string(back) != string(plain) {
			t.Errorf("%d bytes: they come back otherwise: %v", file.Size, err)
		}
	}
}

func TestTheFrozenChunkOpens(t *testing.T) {
	t.Parallel()
	_, f, _ := loadFileVectors(t)
	c := FilesKey{keyOf(f.FilesKey)}.File(f.BlobID)
	plain, err := c.Open(nil, f.ChunkNumber, true, f.SealedChunk)
	if err != nil || string(plain) != f.Chunk {
		t.Errorf("it opens as %q, %v", plain, err)
	}
	if now := c.Seal(nil, f.ChunkNumber, true, plain); string(now) != string(f.SealedChunk) {
		t.Errorf("it is sealed as %x, not %x", now, f.SealedChunk)
	}
}

func TestTheFrozenListOpens(t *testing.T) {
	t.Parallel()
	v, f, _ := loadFileVectors(t)
	list, err := FilesKey{keyOf(f.FilesKey)}.OpenList(v.PushID, f.SealedList)
	if err != nil || string(list) != f.List {
		t.Errorf("it opens as %q, %v", list, err)
	}
}

func TestTheFrozenGrantOpensAndHasItsLayout(t *testing.T) {
	t.Parallel()
	v, f, ring := loadFileVectors(t)
	token := secret.New(f.GrantToken)
	files, err := ring.OpenGrant(v.PushID, token, f.SealedGrant)
	if err != nil || *files.s != string(f.FilesKey) {
		t.Fatalf("it does not open as it should: %v", err)
	}
	if *files.s != *(DEK{keyOf(v.DEK)}).FilesKey().s {
		t.Error("its key is not the files key of the push")
	}
	now := ring.SealGrant(time.UnixMilli(v.KEKFrom[1]), v.PushID, token, files)
	if len(now) != len(f.SealedGrant) || string(now[:kekHead]) != string(f.SealedGrant[:kekHead]) {
		t.Errorf("it is sealed as %x now, not as %x", now, f.SealedGrant)
	}
	if len(NewGrantToken().Reveal()) != len(f.GrantToken) {
		t.Error("the tokens have another length now")
	}
}
