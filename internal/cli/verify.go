package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/certificate"
	"pushbox/internal/client"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/pageproof"
)

// maxListFile is the most bytes of a list of digests.
const maxListFile = 1 << 20

func (a *app) verify() *cobra.Command {
	var list, key, server string
	cmd := &cobra.Command{
		Use:   "verify URL|FILE",
		Short: "Check the pages of a server, or a certificate of the end of a push",
		Long: `Check that a server sends the pages of a release, which matters for pushes that
are encrypted end to end: scripts of a page have the key.

It requests pages of the server as a visitor does, and all scripts and styles, and
compares them with the list of a release. URL is the address of the server, or a
link, whose page it requests too; this uses no view. Without --release it compares
with the release of this program. A release has the list as assets.txt, whose digest
is in the signed SHA256SUMS; pushbox version --assets prints it too.

It sees what the server sends to this program. A server can send another page to
another visitor.

Or check the certificate of the end of a push in FILE, and print what it says. --key
or --url says whose certificate it must be.`,
		Example: `  pushbox verify https://push.example.com
  pushbox verify https://push.example.com --release assets.txt
  pushbox verify certificate.json --url https://push.example.com
  pushbox verify certificate.json --key "$(cat fingerprint)"`,
		Args: arguments("the address of the server, or the file with a certificate"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch _, err := os.Stat(args[0]); {
			case err != nil && key+server != "":
				return err
			case err == nil && list != "":
				return usagef("--release is for the pages of a server, --key and --url are for the file with a certificate")
			case err == nil:
				return a.verifyCertificate(cmd, args[0], key, server)
			}
			return a.verifyPages(cmd, args[0], list)
		},
	}
	cmd.Flags().StringVar(&list, "release", "", "compare with the list in `FILE`")
	cmd.Flags().StringVar(&key, "key", "", "the certificate must be signed with the key of that `FINGERPRINT`")
	cmd.Flags().StringVar(&server, "url", "", "the certificate must be signed with the key of the server at `URL`")
	cmd.MarkFlagsMutuallyExclusive("key", "url")
	cmd.Flags().String(caFileFlag, "", "also trust the certificate authorities in `FILE` (PEM)")
	return cmd
}

func (a *app) verifyPages(cmd *cobra.Command, address, file string) error {
	list, err := releaseList(file)
	if err != nil {
		return err
	}
	pages := []string{"/", "/users/sign_in", "/p/" + strings.Repeat("a", 34) + "/r"}
	server, err := client.ParseServer(address)
	if link, isLink := client.ParseLink(address); isLink == nil {
		server, err, pages = link.Server, nil, append(pages, link.StepPath().Reveal())
	}
	if err != nil {
		return usagef("the server's URL %w", err)
	}
	c, server, err := a.dial(cmd, server)
	if err != nil {
		return err
	}
	get := func(ctx context.Context, path string) (int, http.Header, []byte, error) {
		return c.Visit(ctx, server, path)
	}
	r, err := pageproof.Check(cmd.Context(), list, server.Path(), pages, get)
	if err != nil {
		return remoteError("verify", server, err)
	}
	if len(r.Problems) > 0 {
		for _, problem := range r.Problems {
			a.sayf("%s", problem)
		}
		return hint.With(fmt.Errorf("%s does not send the pages of this release", server),
			"it runs another release, whose list to name with --release, or someone has changed it: send no secret until you know which")
	}
	_, err = fmt.Fprintf(a.stdout, "%s sends the pages of this release: %d pages and %d files are as they should be.\n", server, r.Pages, r.Files)
	return err
}

// releaseList reads the list in a file, or else makes that of this program.
func releaseList(file string) (pageproof.List, error) {
	if file == "" {
		text, err := AssetList()
		if err != nil {
			return nil, err
		}
		return pageproof.ParseList(text)
	}
	text, err := durable.ReadBounded(file, maxListFile)
	if err != nil {
		return nil, err
	}
	list, err := pageproof.ParseList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// verifyCertificate checks a certificate, and prints what it states.
func (a *app) verifyCertificate(cmd *cobra.Command, file, key, server string) error {
	text, err := durable.ReadBounded(file, maxListFile)
	key = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(key), certificate.Before), ":", ""))
	if key != "" && (len(key) != 64 || strings.Trim(key, "0123456789abcdef") != "") {
		return usagef("--key must be the fingerprint that pushbox key certificate prints: 64 hexadecimal digits")
	}
	if err == nil && key == "" {
		key, err = a.fetchKey(cmd, server)
	}
	if err != nil {
		return err
	}
	s, err := certificate.Check(text, key)
	if err != nil {
		return hint.With(fmt.Errorf("%s %w", file, err), "trust nothing that it says; its sender can download it again where it came from")
	}
	fmt.Fprintln(a.stderr, "The signature is right. The server with the key "+key+" states:")
	out := json.NewEncoder(a.stdout)
	out.SetIndent("", "  ")
	return out.Encode(s)
}

// fetchKey returns the fingerprint of the key of a server.
func (a *app) fetchKey(cmd *cobra.Command, address string) (string, error) {
	if address == "" {
		return "", hint.With(usagef("say whose certificate it must be: anyone can make one with a key of their own"),
			"name the server with --url, or the fingerprint of its key with --key")
	}
	server, err := client.ParseServer(address)
	if err != nil {
		return "", usagef("the server's URL %w", err)
	}
	c, server, err := a.dial(cmd, server)
	if err != nil {
		return "", err
	}
	status, _, text, err := c.Visit(cmd.Context(), server, certificate.KeyPath)
	line, _, _ := strings.Cut(string(text), "\n")
	fingerprint, is := strings.CutPrefix(line, certificate.Before)
	if err == nil && (status != http.StatusOK || !is) {
		err = fmt.Errorf("it has no key of certificates (status %d)", status)
	}
	if err != nil {
		return "", remoteError("fetch the key of", server, err)
	}
	return fingerprint, nil
}
