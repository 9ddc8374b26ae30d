package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"pushbox/internal/client"
	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/pageproof"
)

// maxListFile is the most bytes of a list of digests.
const maxListFile = 1 << 20

func (a *app) verify() *cobra.Command {
	var list string
	cmd := &cobra.Command{
		Use:   "verify URL",
		Short: "Check that a server sends the pages of a release",
		Long: `Check that a server sends the pages of a release, which matters for pushes that
are encrypted end to end: scripts of a page have the key.

It requests pages of the server as a visitor does, and all scripts and styles, and
compares them with the list of a release. URL is the address of the server, or a
link, whose page it requests too; this uses no view. Without --release it compares
with the release of this program. A release has the list as assets.txt, whose digest
is in the signed SHA256SUMS; pushbox version --assets prints it too.

It sees what the server sends to this program. A server can send another page to
another visitor.`,
		Example: `  pushbox verify https://push.example.com
  pushbox verify https://push.example.com --release assets.txt`,
		Args: arguments("the address of the server"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verifyPages(cmd, args[0], list) },
	}
	cmd.Flags().StringVar(&list, "release", "", "compare with the list in `FILE`")
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
