package pages_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

func TestTheAuditLogAsCSV(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	p := a.Mine(by, func(in *store.NewPush) { in.Views = new(100) })
	path := "/p/" + p.Token.Reveal() + "/audit.csv"
	for i := range 100 {
		a.Store.Clock.Advance(time.Second)
		who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: fmt.Sprintf("a, \"b\"; é %d", i), Referrer: secret.New("https://example.com/?a=b-c")}
		if _, err := a.Store.Retrieve(ctx, who, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
		if n := i + 2; n == 49 || n == 50 || n == 51 || n == 100 || n == 101 { // entries: about the end of a page
			if rows := csvOf(a, path, ann); len(rows) != n+1 {
				t.Errorf("%d rows for %d entries", len(rows), n)
			}
		}
	}
	got := a.Get(path, ann).Want(200)
	for name, want := range map[string]string{"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="audit-log.csv"`, "Cache-Control": "no-store"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %s", name, got.Header.Get(name))
		}
	}
	if strings.Contains(fmt.Sprint(got.Header)+got.Body, p.Token.Reveal()) {
		t.Error("the token is in it")
	}
	if strings.Count(got.Body, "\r\n") != strings.Count(got.Body, "\n") || !strings.HasSuffix(got.Body, "\r\n") {
		t.Error("lines do not end with CRLF")
	}
	rows := csvOf(a, path, ann)
	if strings.Join(rows[0], " ") != "created_at kind ip user_agent referrer request_id recipient_email" {
		t.Errorf("head %q", rows[0])
	}
	for page := 1; page <= 3; page++ {
		log, err := a.Store.Audit(ctx, by, p.Token, page)
		env.OK(t, err)
		for i, e := range log {
			want := []string{e.At.Format("2006-01-02T15:04:05.000Z"), e.Kind.String(), e.IP, e.UserAgent, e.Referrer.Reveal(), "", ""}
			if got := rows[1+(page-1)*store.PageSize+i]; strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("row %q, entry %q", got, want)
			}
		}
	}
}

func csvOf(a *servertest.Server, path string, headers ...http.Header) [][]string {
	a.T.Helper()
	rows, err := csv.NewReader(strings.NewReader(a.Get(path, headers...).Want(200).Body)).ReadAll()
	env.OK(a.T, err)
	return rows
}

func TestNoCellOfTheCSVIsAFormula(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	for sent, want := range map[string]string{
		"=1+1":                 `'=1+1`,
		"＝1":                   `'＝1`,
		"＋1":                   `'＋1`,
		"－1":                   `'－1`,
		"a;＠x":                 `a;'＠x`,
		"+1":                   `'+1`,
		"-1":                   `'-1`,
		"@SUM(A1)":             `'@SUM(A1)`,
		"\t=1":                 "'\t'=1",
		"\r=1":                 "'=1", // a bare CR is nothing to CSV
		"\n=1":                 "'\n=1",
		`"=1`:                  `"'=1`,
		"  =1":                 "  '=1",
		"a;=1+1;b":             "a;'=1+1;b",
		"a;=1;+2; \"-3":        "a;'=1;'+2; \"'-3",
		"a\t@b":                "a\t'@b",
		"Mozilla/5.0 (a; b-c)": "Mozilla/5.0 (a; b-c)",
		"a=b+c-d@e":            "a=b+c-d@e",
		"a,=1":                 "a,=1", // quoted
		"":                     "",
		"é=1":                  "é=1",
	} {
		p := a.Mine(by)
		who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: sent, Referrer: secret.New(sent)}
		if _, err := a.Store.Retrieve(ctx, who, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
		row := csvOf(a, "/p/"+p.Token.Reveal()+"/audit.csv", ann)[2]
		if row[3] != want || row[4] != want {
			t.Errorf("%q became %q", sent, row[3])
		}
	}
}
