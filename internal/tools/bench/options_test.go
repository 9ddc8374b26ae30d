package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/tools/tool"
)

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"--rounds 0", "--rounds must be from 1"},
		{"--stored 0", "--stored must be from 1"},
		{"--payload 1048577", "--payload must be from 1 to 1048576"},
		{"--round 0s", "--round must be from 1ms"},
		{"--rest -1s", "--rest must be from 0s"},
		{"--rest 61m", "--rest must be from 0s"},
		{"--only create,update", "each must be one of last view, view,"},
		{"bolt --pushbox a --only create", "bolt takes one --pushbox"},
		{"--connections 1,0", "each must be from 1 to 10000"},
		{"--connections ,", "each must be"},
		{"--client curl", "it must be raw or net"},
		{"--pushbox a --pushbox b", "two servers are called pushbox: give NAME="},
		{"--pushbox bare=a", "two servers are called bare"},
		{"--pushbox x=", "no path is given"},
		{"--pushbox ../x=a", "the name must not be empty, . or .."},
		{"--url a", "it must be NAME=http://HOST:PORT"},
		{"--url a=ftp://b", "it must be NAME="},
		{"--url a=http://b/c", "it must be NAME="},
		{"--url a=http://u:p@b", "it must be NAME="},
		{"--client raw --url a=https://b", "a: the raw client speaks http only"},
		{"--token-file a=b", "no earlier --url has this NAME"},
		{"--pushbox a=b --pid a=1", "no earlier --url has this NAME"},
		{"--url a=http://b --pid a=0", "each must be from 1"},
		{"bolt", "bolt takes one --pushbox"},
		{"bolt --url a=http://b", "bolt takes one --pushbox"},
		{"bolt --pushbox a --connections 1,2", "bolt takes one --pushbox"},
		{"extra", `unexpected argument "extra"`},
		{"--nonsense", "flag provided but not defined"},
	} {
		_, err := parse(strings.Fields(test.args), io.Discard)
		var bad tool.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", test.args, err)
		}
	}
}

func TestArgumentsSayWhatToMeasure(t *testing.T) {
	t.Parallel()
	o, err := parse(strings.Fields("--pushbox ./p --pushbox old=./q --url u=http://h:1/ --pid u=7,8 --v1-url w=https://h --ots-url o=http://o --yopass-url y=http://y --client net --only create,delete --rest 2s --connections 3,4 --round 10ms --json"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []spec{
		{name: "pushbox", path: "./p", api: apis["v2"]},
		{name: "old", path: "./q", api: apis["v2"]},
		{name: "u", url: "http://h:1", api: apis["v2"], pids: []int{7, 8}},
		{name: "w", url: "https://h", api: apis["v1"]},
		{name: "o", url: "http://o", api: apis["ots"]},
		{name: "y", url: "http://y", api: apis["yopass"]},
	} {
		got := o.subjects[i]
		if got.name != want.name || got.path != want.path || got.url != want.url || got.api != want.api || !slices.Equal(got.pids, want.pids) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if !slices.Equal(o.connections, []int{3, 4}) || o.round != 10*time.Millisecond || o.rounds != 9 || o.stored != 1000 || o.payload != 200 || !o.json || o.raw || o.bolt || o.rest != 2*time.Second || o.measures(plainView) || !o.measures(deletePush) {
		t.Errorf("got %+v", o)
	}
}

func TestHelpNamesEveryArgument(t *testing.T) {
	t.Parallel()
	var help bytes.Buffer
	if _, err := parse([]string{"--help"}, &help); err == nil {
		t.Error("--help is no error")
	}
	for _, name := range []string{"pushbox", "url", "v1-url", "ots-url", "yopass-url", "token-file", "pid", "connections", "rounds", "round", "rest", "only", "stored", "payload", "client", "dir", "json"} {
		if !strings.Contains(help.String(), "  -"+name) {
			t.Errorf("the help does not name %s", name)
		}
	}
}
