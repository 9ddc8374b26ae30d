package web

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// AssetPrefix is the prefix of the paths of assets.
const AssetPrefix = "/assets/"

// An Asset is a style, a script or an image of the pages.
type Asset struct {
	Type    string // media type
	Content []byte
	Gzip    []byte // Content compressed with gzip; nil: that is not smaller
	Digest  string // of Content, as the attribute integrity has it
}

// A Logo is the operator's own image.
type Logo struct {
	Name    string // of the file; its ending tells the media type
	Content []byte
}

// same reports whether two logos, which may be nil, have the same content.
func (l *Logo) same(other *Logo) bool {
	if l == nil || other == nil {
		return l == other
	}
	return l.Name == other.Name && bytes.Equal(l.Content, other.Content)
}

// mediaTypes has the media types of assets, by the ending of their names.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".jpg":  "image/jpeg",
	".jpeg": "image/jpeg",
	".webp": "image/webp",
}

// logoName is the name of the logo among the assets, without its ending.
const logoName = "logo"

// readAssets reads the assets. Each gets a path with a digest of its content, so that
// browsers may keep it forever.
func (p *Pages) readAssets(logo *Logo) error {
	p.assets, p.paths = make(map[string]Asset), make(map[string]string)
	entries, err := files.ReadDir("static")
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			return err
		}
		if err := p.addAsset(e.Name(), e.Name(), content, compressed()[e.Name()]); err != nil {
			return err
		}
	}
	if logo == nil {
		return nil
	}
	ending := strings.ToLower(path.Ext(logo.Name))
	if !strings.HasPrefix(mediaTypes[ending], "image/") {
		return fmt.Errorf("%s is not an image that pages can show: its name must end with .svg, .png, .jpg, .jpeg or .webp", logo.Name)
	}
	var smaller []byte
	if compressible(mediaTypes[ending]) {
		smaller = compress(logo.Content)
	}
	return p.addAsset(logoName, logoName+ending, logo.Content, smaller)
}

func (p *Pages) addAsset(name, file string, content, smaller []byte) error {
	ending := path.Ext(file)
	media, ok := mediaTypes[ending]
	if !ok {
		return fmt.Errorf("the type of %s is not known", file)
	}
	sum, strong := sha256.Sum256(content), sha512.Sum384(content)
	hashed := strings.TrimSuffix(file, ending) + "." + hex.EncodeToString(sum[:6]) + ending
	p.assets[hashed] = Asset{Type: media, Content: content, Gzip: smaller, Digest: "sha384-" + base64.StdEncoding.EncodeToString(strong[:])}
	p.paths[name] = p.to(AssetPrefix + hashed)
	return nil
}

// Asset returns the asset with that name, which is its path without AssetPrefix.
func (p *Pages) Asset(name string) (Asset, bool) {
	a, ok := p.assets[name]
	return a, ok
}

// Path returns the path of an asset such as style.css.
func (p *Pages) Path(name string) (string, error) {
	if at, ok := p.paths[name]; ok {
		return at, nil
	}
	return "", fmt.Errorf("there is no asset %q", name)
}

// Digest returns the digest of an asset such as app.js, for the attribute integrity.
func (p *Pages) Digest(name string) (string, error) {
	at, err := p.Path(name)
	return p.assets[path.Base(at)].Digest, err
}

// Digests lists the assets that are the same in every server, each with its digest and
// its path.
func (p *Pages) Digests() (lines []string) {
	for _, at := range slices.Sorted(maps.Values(p.paths)) {
		lines = append(lines, p.assets[path.Base(at)].Digest+"  "+at)
	}
	return lines
}

// to returns a path of the server as pages have it.
func (p *Pages) to(path string) string { return p.base + path }

// LogoPath returns the path of the logo; empty if there is none.
func (p *Pages) LogoPath() string { return p.paths[logoName] }
