package server_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

func TestTheAuditLogAsCSV(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	p := a.mine(by, func(in *store.NewPush) { in.Views = new(100) })
	path := "/p/" + p.Token.Reveal() + "/audit.csv"
	for i := range 100 {
		a.store.Clock.Advance(time.Second)
		who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: fmt.Sprintf("a, \"b\"; é %d", i), Referrer: "https://example.com/?a=b-c"}
		if _, err := a.store.Retrieve(ctx, who, p.Token, secret.Text{}); err != nil {
			t.Fatal(err)
		}
		if n := i + 2; n == 49 || n == 50 || n == 51 || n == 100 || n == 101 { // entries: about the end of a page
			if rows := a.csv(path, ann); len(rows) != n+1 {
				t.Errorf("%d rows for %d entries", len(rows), n)
			}
		}
	}
	got := a.get(path, ann).want(200)
	for name, want := range map[string]string{"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="audit-log.csv"`, "Cache-Control": "no-store"} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %s", name, got.header.Get(name))
		}
	}
	if strings.Contains(fmt.Sprint(got.header)+got.body, p.Token.Reveal()) {
		t.Error("the token is in it")
	}
	if strings.Count(got.body, "\r\n") != strings.Count(got.body, "\n") || !strings.HasSuffix(got.body, "\r\n") {
		t.Error("lines do not end with CRLF")
	}
	rows := a.csv(path, ann)
	if strings.Join(rows[0], " ") != "created_at kind ip user_agent referrer" {
		t.Errorf("head %q", rows[0])
	}
	for page := 1; page <= 3; page++ {
		log, err := a.store.Audit(ctx, by, p.Token, page)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range log {
			want := []string{e.At.Format("2006-01-02T15:04:05.000Z"), e.Kind.String(), e.IP, e.UserAgent, e.Referrer}
			if got := rows[1+(page-1)*store.PageSize+i]; strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("row %q, entry %q", got, want)
			}
		}
	}
}

func (a *api) csv(path string, headers ...http.Header) [][]string {
	a.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(a.get(path, headers...).want(200).body)).ReadAll()
	if err != nil {
		a.t.Fatal(err)
	}
	return rows
}

func TestNoCellOfTheCSVIsAFormula(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	for sent, want := range map[string]string{
		"=1+1":                 `'=1+1`,
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
		p := a.mine(by)
		who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: sent, Referrer: sent}
		if _, err := a.store.Retrieve(ctx, who, p.Token, secret.Text{}); err != nil {
			t.Fatal(err)
		}
		row := a.csv("/p/"+p.Token.Reveal()+"/audit.csv", ann)[2]
		if row[3] != want || row[4] != want {
			t.Errorf("%q became %q", sent, row[3])
		}
	}
}
