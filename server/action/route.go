package action

import (
	"net/http"
	"slices"
	"strings"

	"pushbox/config"

	"pushbox/server/display"
	"pushbox/store/record"
)

// A Func answers one request. It never writes to the connection: the server renders its result, and
// is the only place that sets headers.
type Func func(*Request) (Reply, error)

// A Route is a row of the table that router, access, limits, logs and tests read. It is the only
// list of routes.
type Route struct {
	Name    string // name for logs, which must not contain paths: a path may contain a url_token
	Method  string
	Pattern string
	Word    string // if set, the route is only for this value of the pattern's parameter
	Access  Access
	Scope   record.Scopes // scopes that an API token needs; 0: the route accepts no token
	Traits  Traits
	Nav     string // the page's name in the navigation
	Menu    string // the message that names the page in the list of the settings; empty: it is not there
	Action  Func
}

// Has reports whether the route has that trait.
func (r Route) Has(t Traits) bool { return r.Traits&t != 0 }

// An Access says who may call a route. Credentials are an API token, or for a page a
// session.
type Access uint8

const (
	Public         Access = iota // everyone; credentials are ignored
	Optional                     // callers with valid credentials, and anonymous ones; in the API only if the settings allow these
	Creating                     // callers with valid credentials, and anonymous ones who may create
	Required                     // callers with valid credentials
	Administrating               // administrators: for others there is nothing at the path
)

// Traits are properties of a route beyond its access.
type Traits uint16

const (
	IsPage        Traits = 1 << iota // for a browser: it reads the session's cookie, and errors are pages
	HasLinks                         // the answer has links
	HasFiles                         // files go in or out, for as long as they make progress
	ForRecipients                    // it is also at the entry point for recipients
	NotCounted                       // by the general limit
	IsHealthCheck                    // for monitors: for every Host
	AtRoot                           // also outside base_path
	BeforeMFA                        // open to accounts that still need a second factor
	CountsViews                      // a GET may count a view, so it must be intended, and there is no HEAD
	IsV1                             // of API version 1, which the settings can switch off
	Unlisted                         // another address of a route, which the documentation leaves out
	Compressed                       // a page without secrets: the compressed size of others could reveal something about a secret
	ForRequests                      // of requests for secrets, which the settings can switch off
	HasList                          // a page of a list is read: it may have many names and notes
	CrossOrigin                      // scripts of other sites may read the answer, if the settings allow it
)

// FirstPath, with a code behind it, is the path of the page that makes the first
// account.
const FirstPath = "/users/first/"

// Paths that answers to errors and pages of other rooms name.
const (
	HealthPath  = "/healthz"
	MFAPath     = "/users/mfa"
	AddressPath = "/users/address"
	HelpPath    = "/help/api"
)

// Parameters of patterns.
const (
	TokenParam   = "url_token"
	RequestParam = "request_id"
	AccountParam = "account_id"
	ActParam     = "act"
	PolicyParam  = "policy"
)

// NameParam is the parameter of patterns for a name or a code that is no url_token.
const NameParam = "name"

// LanguageParam is the parameter of patterns for a language.
const LanguageParam = "language"

// The parameters of the pattern for downloads: the grant, which is a secret, and
// the number of the file, from 1.
const (
	GrantParam = "grant"
	FileParam  = "file"
)

// HasParam reports whether a pattern has that parameter.
func HasParam(pattern, name string) bool { return strings.Contains(pattern, "/:"+name) }

// Guessable reports whether the path has a secret that a client may try to guess: a
// url_token, a grant, or the code of a link that makes the first account or sets a password. Requests with unknown ones
// count against a limit.
func (r Route) Guessable() bool {
	asked := r.Access == Optional && HasParam(r.Pattern, RequestParam) // by its token: not for its owner alone
	return r.Word == "" && (HasParam(r.Pattern, TokenParam) || HasParam(r.Pattern, GrantParam) || asked) || strings.HasPrefix(r.Pattern, FirstPath) || strings.HasPrefix(r.Pattern, display.PasswordPath)
}

// Squeeze replaces repeated slashes in a path by one, and removes slashes at the end.
func Squeeze(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// PrefixesV1 are the first parts of the paths of API version 1: for a push of text, of
// files, and of a URL. Each reaches every push.
const PrefixesV1 = "pfr"

// JSONSuffix ends the paths of API version 1, and may end those of version 2.
const JSONSuffix = ".json"

// DocumentV1 is the address of the OpenAPI document of version 1, without the base.
const DocumentV1 = "/api/v1/openapi.json"

// IsPathV1 reports whether a path or a pattern is one of API version 1, except those
// under /api/v1.
func IsPathV1(path string) bool {
	path, ok := strings.CutSuffix(path, JSONSuffix)
	return ok && len(path) > 1 && path[0] == '/' && strings.IndexByte(PrefixesV1, path[1]) >= 0 && (len(path) == 2 || path[2] == '/')
}

// NeedsToken reports whether a route of the API needs a valid token from every
// client, whatever its address.
func (a Access) NeedsToken(c *config.Config) bool {
	switch a {
	case Required, Administrating:
		return true
	case Optional:
		return !c.AllowAnonymous
	case Creating:
		return !c.AllowAnonymous && !a.DependsOnAddress(c)
	default:
		return false
	}
}

// DependsOnAddress reports whether it depends on the client's address if a route of the API needs a
// token.
func (a Access) DependsOnAddress(c *config.Config) bool {
	return a == Creating && len(c.CreateNetworks) > 0
}

// WithHead returns the rows, each for GET also for HEAD, which is GET without a body, unless GET
// counts something.
func WithHead(rows []Route) (all []Route) {
	for _, row := range rows {
		all = append(all, row)
		if row.Method == http.MethodGet && !row.Has(CountsViews) {
			row.Method = http.MethodHead
			all = append(all, row)
		}
	}
	return all
}

// Served returns the rows that the settings enable, with those for HEAD.
func Served(rows []Route, requests bool) []Route {
	return slices.DeleteFunc(WithHead(rows), func(r Route) bool { return r.Has(ForRequests) && !requests })
}

// Changes reports whether a method changes something.
func Changes(method string) bool { return method != http.MethodGet && method != http.MethodHead }
