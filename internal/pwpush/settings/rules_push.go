package settings

import (
	"slices"
	"strconv"
	"strings"
)

// termRules are about a kind of push: section is its part of Password Pusher's names,
// prefix its section in pushbox.
func termRules(section, prefix string, deletable bool) []rule {
	names := func(name string) []string {
		all := pwp(section + "__" + name)
		if section == "PW" { // old names, from the time when there was one kind
			all = append(all, pwp(name)...)
		}
		return all
	}
	var all []rule
	add := func(name string, to convert) {
		all = append(all, rule{from: names(name), key: prefix + "." + strings.ToLower(name), to: to})
	}
	for _, of := range []struct {
		unit    string
		initial int
	}{{"DAYS", 7}, {"VIEWS", 5}} {
		unit := "EXPIRE_AFTER_" + of.unit + "_"
		l := limits{of.initial, names(unit + "DEFAULT"), names(unit + "MIN"), names(unit + "MAX")}
		all = append(all, rule{
			from: slices.Concat(l.names, l.least, l.most), key: prefix + "." + strings.ToLower(unit) + "default", to: l.within,
		})
		add(unit+"MIN", nil)
		add(unit+"MAX", nil)
	}
	add("ENABLE_RETRIEVAL_STEP", boolean)
	add("RETRIEVAL_STEP_DEFAULT", boolean)
	if deletable {
		add("ENABLE_DELETABLE_PUSHES", boolean)
		add("DELETABLE_PUSHES_DEFAULT", boolean)
	}
	return all
}

// limits are the variables of a limit: its default, and the bounds.
type limits struct {
	initial            int
	names, least, most []string
}

// within returns the default. Where that is out of bounds, Password Pusher uses it
// nevertheless; here it is the nearest bound.
func (l limits) within(g given, _ []string) (string, error) {
	text, set := g.first(l.names...)
	n, err := strconv.Atoi(text)
	if !set {
		n = l.initial
	} else if err != nil {
		return text, nil // config says what is wrong
	}
	was := n
	if low, ok := g.number(l.least...); ok {
		n = max(n, low)
	}
	if high, ok := g.number(l.most...); ok {
		n = min(n, high)
	}
	if !set && n == was {
		return "", nil
	}
	return strconv.Itoa(n), nil
}

func fileRules() []rule {
	return []rule{
		{from: pwp("FILES__MAX_FILE_UPLOADS"), key: "files.max_file_uploads"},
		{from: pwp("FILES__STORAGE", "FILES_STORAGE"), says: "files are in the database, in data_dir"},
		{
			from: pwp("FILES__S3__ENDPOINT", "FILES__S3__ACCESS_KEY_ID", "FILES__S3__SECRET_ACCESS_KEY", "FILES__S3__REGION", "FILES__S3__BUCKET",
				"FILES__GCS__PROJECT", "FILES__GCS__CREDENTIALS", "FILES__GCS__BUCKET", "FILES__GCS__IAM", "FILES__GCS__GSA_EMAIL",
				"FILES__AS__STORAGE_ACCOUNT_NAME", "FILES__AS__STORAGE_ACCESS_KEY", "FILES__AS__CONTAINER"),
			says: "no object storage is needed: files are in the database",
		},
	}
}
