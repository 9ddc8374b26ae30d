package proctest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// upload creates a push with files, as multipart or in base64.
func (c *Crowd) upload(p *Push, rng *rand.Rand) error {
	p.Owned = true // anonymous clients may not upload
	for range 1 + rng.IntN(3) {
		p.files = append(p.files, File{Seed: rng.Uint64(), Size: FileLength(rng)})
	}
	c.Ledger.sendCreate(p)
	fields := map[string]string{
		"payload": p.Payload, "name": p.Name,
		"expire_after_views": strconv.Itoa(p.Limit), "deletable_by_viewer": strconv.FormatBool(p.Deletable),
	}
	var out Record
	err := c.Upload(c.Bearer, rng.IntN(2) == 0, fields, p.files, &out)
	if err != nil {
		return err
	}
	c.Ledger.keep(p, out)
	return nil
}

// Upload creates a push with files, as multipart or in base64.
func (c *Caller) Upload(bearer string, inBase64 bool, fields map[string]string, files []File, out *Record) error {
	as, contents := Form(Multipart), make([]io.Reader, len(files))
	if inBase64 {
		as = Base64
	}
	for i, f := range files {
		contents[i] = Content(f.Seed, f.Size)
	}
	return SendForm(as, fields, contents, func(contentType string, body io.Reader) error {
		return c.Post(http.MethodPost, PushesPath, bearer, contentType, body, http.StatusCreated, out)
	})
}

// FileLength returns a random file size: mostly a chunk or less, sometimes several
// steps of an upload.
func FileLength(rng *rand.Rand) int64 {
	switch rng.IntN(8) {
	case 0:
		return rng.Int64N(900_000)
	case 1, 2, 3:
		return rng.Int64N(140_000)
	default:
		return rng.Int64N(5_000)
	}
}

// fetch asks for a part of a file, or sends a HEAD for one, and returns the push of the
// file. If there is no file, it previews p.
func (c *Crowd) fetch(p *Push, rng *rand.Rand) (*Push, error) {
	claim := c.Ledger.pickClaim(rng)
	if claim.push == nil {
		return p, c.Preview(p)
	}
	if rng.IntN(8) == 0 {
		return claim.push, c.measure(claim)
	}
	return claim.push, c.download(claim)
}

// fetchAll downloads all files of the grants of a push that no other client uses.
func (c *Crowd) fetchAll(p *Push) error {
	claims := c.Ledger.claims(p)
	for _, claim := range claims {
		if err := c.download(claim); err != nil {
			return err
		}
	}
	if len(claims) > 0 {
		c.Ledger.settleFiles(p)
	}
	return nil
}

// ask sends a request for the file of a claim.
func (c *Crowd) ask(method string, claim claim) (*http.Response, glimpse, error) {
	req, err := http.NewRequest(method, c.URL+claim.grant.paths[claim.file], nil)
	if err != nil {
		return nil, glimpse{}, err
	}
	if !claim.whole {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", claim.from, claim.from+int64(len(claim.part))-1))
	}
	if claim.tag != "" {
		req.Header.Set("If-Range", claim.tag)
	}
	before := c.Ledger.send(claim.push, nil)
	defer c.time(time.Now())
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, before, c.Cut(err)
	}
	if err := c.putOff(res); err != nil {
		_ = res.Body.Close() // the answer says nothing
		return nil, before, err
	}
	return res, before, nil
}

// measure asks for the size of a file.
func (c *Crowd) measure(claim claim) error {
	claim.whole = true
	res, before, err := c.ask(http.MethodHead, claim)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return c.Cut(err)
	}
	size := claim.push.files[claim.file].Size
	switch {
	case res.StatusCode == http.StatusNotFound:
		return c.Ledger.gotNoFile(claim)
	case res.StatusCode != http.StatusOK || res.ContentLength != size:
		return fmt.Errorf("P7: a HEAD: status %d, %d bytes of %d", res.StatusCode, res.ContentLength, size)
	case before.released:
		return errors.New("P5: a file is there after it was deleted")
	}
	return nil
}

// download asks for the part of a claim; the ledger judges what comes. Only a kill or a
// delete may cut it off.
func (c *Crowd) download(claim claim) error {
	res, before, err := c.ask(http.MethodGet, claim)
	if err != nil {
		return err
	}
	got, cutErr := io.ReadAll(res.Body)
	cutErr = errors.Join(cutErr, res.Body.Close())
	want := http.StatusPartialContent
	if claim.whole {
		want = http.StatusOK
	}
	switch {
	case res.StatusCode == http.StatusNotFound && cutErr == nil:
		return c.Ledger.gotNoFile(claim)
	case res.StatusCode == http.StatusNotFound:
		return c.Cut(cutErr)
	case res.StatusCode != want:
		return fmt.Errorf("P7: a file from %d on: status %d", claim.from, res.StatusCode)
	}
	err = c.Ledger.gotFile(claim, before, res.Header.Get("ETag"), got, cutErr == nil)
	if err != nil || cutErr == nil || c.Ledger.mayEnd(claim.push) {
		return err
	}
	return c.Cut(cutErr)
}
