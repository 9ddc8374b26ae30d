package docs

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// A variable of a template is a setting: with its value there, and what it asks a person for.
type variable struct{ Name, Value, Label string }

// place is what the catalogues of platforms say of pushbox. The files of deploy/templates are made of it.
type place struct {
	Name, Title, Tagline, Text, Category string
	Image, User, Port                    string
	Volumes                              []variable // the path in the container, and what it holds
	Settings                             []variable // where a person types the address
}

// inCatalogues has the version and the image of deploy/compose.yaml.
func inCatalogues(t *testing.T) place {
	t.Helper()
	image := regexp.MustCompile(`image: (\S+)`).FindSubmatch(readFile(t, "deploy/compose.yaml"))
	return place{
		Name: "pushbox", Title: "pushbox", Category: "Security", Image: string(image[1]), User: "65532", Port: "5100",
		Tagline: "Share secrets that vanish",
		Text:    "Passwords, texts and files behind links that end by views or time. Speaks the API of Password Pusher. The master key is apart from the data: back up both, to two places.",
		Volumes: []variable{{"/data", "data", "the database, encrypted"}, {"/key", "key", "the master key"}},
		Settings: []variable{
			{"PUSHBOX_MASTER_KEY_FILE", "/key/master.key", "the master key, in the second volume"},
			{"PUSHBOX_BASE_URL", "https://push.example.com", "the address with which links begin"},
			{"PUSHBOX_TRUSTED_PROXIES", "10.0.0.0/8,172.16.0.0/12", "the networks of the proxy, and of no one else"},
		},
	}
}

// service is the part that is the same wherever Compose is read. What differs are the definitions before, value and source.
const service = `services:
  {{.Name}}:
    image: {{.Image}}
    restart: unless-stopped
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    stop_grace_period: 30s
    environment:{{template "before"}}{{range .Settings}}
      {{.Name}}: "{{template "value" .}}"{{end}}
    volumes:{{range .Volumes}}
      - {{template "source" .}}:{{.Name}}{{end}}
    healthcheck:
      test: ["CMD", "/pushbox", "healthcheck"]
      interval: 30s
      timeout: 10s
      start_period: 10m
      retries: 3
`

const volumes = "volumes:{{range .Volumes}}\n  {{.Value}}: {}{{end}}\n"

// catalogues are the files, and how each is made of the table.
var catalogues = map[string]string{
	"casaos.yaml": `name: {{.Name}}
{{define "before"}}{{end}}{{define "value"}}{{.Value}}{{end}}{{define "source"}}/DATA/AppData/pushbox/{{.Value}}{{end}}` + service + `    ports:
      - {target: {{.Port}}, published: "{{.Port}}", protocol: tcp}
    x-casaos:
      envs:{{range .Settings}}
        - {container: {{.Name}}, description: {en_us: "{{.Label}}"}}{{end}}
      ports:
        - {container: "{{.Port}}", description: {en_us: pages and API}}
      volumes:{{range .Volumes}}
        - {container: {{.Name}}, description: {en_us: "{{.Label}}; its directory belongs to user {{$.User}}"}}{{end}}
x-casaos:
  architectures: [amd64, arm64]
  main: {{.Name}}
  author: The pushbox authors
  developer: The pushbox authors
  category: {{.Category}}
  title: {en_us: {{.Title}}}
  tagline: {en_us: {{.Tagline}}}
  description: {en_us: "{{.Text}}"}
  tips: {before_install: {en_us: "Make the directories first: install -d -m 0700 -o {{.User}} -g {{.User}}{{range .Volumes}} /DATA/AppData/pushbox/{{.Value}}{{end}}"}}
  scheme: http
  index: /
  port_map: "{{.Port}}"
`,
	"coolify.yaml": `# documentation: docs/install.md of pushbox
# slogan: {{.Tagline}}
# tags: secrets, passwords, sharing, files, {{.Category}}
# port: {{.Port}}

{{define "before"}}
      SERVICE_URL_PUSHBOX_5100:{{end}}{{define "value"}}{{if eq .Name "PUSHBOX_BASE_URL"}}${SERVICE_URL_PUSHBOX}{{else}}{{.Value}}{{end}}{{end}}{{define "source"}}pushbox-{{.Value}}{{end}}` + service,
	"dokploy/docker-compose.yml": `{{define "before"}}{{end}}{{define "value"}}{{if eq .Name "PUSHBOX_BASE_URL"}}https://${PUSHBOX_HOST}{{else}}{{.Value}}{{end}}{{end}}{{define "source"}}{{.Value}}{{end}}` + service + volumes,
	"dokploy/template.toml": `[variables]
main_domain = "${domain}"

[config]
env = ["PUSHBOX_HOST=${main_domain}"]
mounts = []

[[config.domains]]
serviceName = "{{.Name}}"
port = {{.Port}}
host = "${main_domain}"
`,
	"portainer.json": `{
  "version": "3",
  "templates": [
    {
      "id": 1,
      "type": 1,
      "title": "{{.Title}}",
      "name": "{{.Name}}",
      "description": "{{.Tagline}}",
      "note": "{{.Text}} Make the directories first: install -d -m 0700 -o {{.User}} -g {{.User}}{{range .Volumes}} /srv/pushbox/{{.Value}}{{end}}",
      "categories": ["{{.Category}}"],
      "platform": "linux",
      "image": "{{.Image}}",
      "restart_policy": "unless-stopped",
      "ports": ["{{.Port}}:{{.Port}}/tcp"],
      "volumes": [{{range $i, $v := .Volumes}}{{if $i}}, {{end}}{"container": "{{.Name}}", "bind": "/srv/pushbox/{{.Value}}"}{{end}}],
      "env": [{{range $i, $v := .Settings}}{{if $i}}, {{end}}
        {"name": "{{.Name}}", "label": "{{.Label}}", "default": "{{.Value}}"}{{end}}
      ]
    }
  ]
}
`,
	"unraid.xml": `<?xml version="1.0"?>
<Container version="2">
  <Name>{{.Name}}</Name>
  <Repository>{{.Image}}</Repository>
  <Network>bridge</Network>
  <Shell>sh</Shell>
  <Privileged>false</Privileged>
  <Overview>{{.Text}}</Overview>
  <Category>{{.Category}}:</Category>
  <WebUI>http://[IP]:[PORT:{{.Port}}]/</WebUI>
  <ExtraParams>--read-only --cap-drop=ALL --security-opt=no-new-privileges --stop-timeout=30</ExtraParams>
  <Requires>Make the directories first: install -d -m 0700 -o {{.User}} -g {{.User}}{{range .Volumes}} /mnt/user/appdata/pushbox/{{.Value}}{{end}}</Requires>
  <Config Name="Port" Target="{{.Port}}" Default="{{.Port}}" Mode="tcp" Description="pages and API" Type="Port" Display="always" Required="true" Mask="false">{{.Port}}</Config>{{range .Volumes}}
  <Config Name="{{.Value}}" Target="{{.Name}}" Default="/mnt/user/appdata/pushbox/{{.Value}}" Mode="rw" Description="{{.Label}}" Type="Path" Display="always" Required="true" Mask="false">/mnt/user/appdata/pushbox/{{.Value}}</Config>{{end}}{{range .Settings}}
  <Config Name="{{.Name}}" Target="{{.Name}}" Default="{{.Value}}" Mode="" Description="{{.Label}}" Type="Variable" Display="always" Required="true" Mask="false">{{.Value}}</Config>{{end}}
</Container>
`,
}

// TestTheTemplatesOfPlatformsAreThoseOfTheTable also lets the program read the settings, and a parser of its form
// each file. With -update it writes the files.
func TestTheTemplatesOfPlatformsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	p := inCatalogues(t)
	for name, text := range catalogues {
		var made bytes.Buffer
		env.OK(t, template.Must(template.New(name).Parse(text)).Execute(&made, p))
		golden.File(t, absolute(t, path.Join("deploy/templates", name)), made.String())
		var err error
		var any any
		switch path.Ext(name) {
		case ".yaml", ".yml":
			err = yaml.Unmarshal(made.Bytes(), &any)
		case ".json":
			err = json.Unmarshal(made.Bytes(), &any)
		case ".xml":
			err = xml.Unmarshal(made.Bytes(), new(struct{ Config []string }))
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "pushbox", "config", "print")
	cmd.Env = proctest.Environ()
	for _, s := range p.Settings {
		cmd.Env = append(cmd.Env, s.Name+"="+s.Value)
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "172.16.0.0/12") {
		t.Errorf("%v\n%s", err, out)
	}
	var compose struct {
		Services map[string]struct {
			Volumes     []string
			Environment map[string]string
		}
	}
	env.OK(t, yaml.Unmarshal(readFile(t, "deploy/compose.yaml"), &compose))
	of := compose.Services[p.Name]
	for _, v := range p.Volumes {
		if !slices.Contains(of.Volumes, v.Value+":"+v.Name) {
			t.Errorf("deploy/compose.yaml has no volume %s", v.Name)
		}
	}
	for _, s := range p.Settings {
		if _, ok := of.Environment[s.Name]; !ok {
			t.Errorf("deploy/compose.yaml has no %s", s.Name)
		}
	}
}
