package extension

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	customDefinitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	widgets           = "/apis/example.com/v1/namespaces/default/widgets"
	customTypeApply   = "application/apply-patch+yaml"
)

type customSession struct{ client.Session }

func serveCustom(t *testing.T, change func(*daemon.Config)) customSession {
	t.Helper()
	return customSession{client.Open(t, change)}
}

func TestCustomTranscripts(t *testing.T) {
	t.Parallel()
	runTranscripts(t, "custom", "platform", nil)
}

// A customDefinition describes the Widget CRD. Empty fields have defaults.
type customDefinition struct {
	scope    string // "" for Namespaced
	names    string // names other than plural and kind, each after a comma
	versions string // replaces v1
	schema   string // schema of v1
	more     string // additional fields of v1, each after a comma
}

func (d customDefinition) String() string {
	if d.scope == "" {
		d.scope = "Namespaced"
	}
	if d.schema == "" {
		d.schema = `{"type":"object","x-platform-preserve-unknown-fields":true}`
	}
	if d.versions == "" {
		d.versions = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + d.schema + `}` + d.more + `}`
	}
	return `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",
		"scope":"` + d.scope + `","names":{"plural":"widgets","kind":"Widget"` + d.names + `},"versions":[` + d.versions + `]}}`
}

func (s customSession) define(d customDefinition) client.Object {
	s.T.Helper()
	return s.Send(201, "POST", customDefinitions, client.JSON, d.String()).Object()
}

// updateDefinition replaces the Widget CRD and waits until all daemons have observed this.
func (s customSession) updateDefinition(d customDefinition) {
	s.T.Helper()
	old := s.Send(200, "GET", customDefinitions+"/widgets.example.com", "", "").Object()
	text := strings.Replace(d.String(), `"metadata":{`, `"metadata":{"resourceVersion":"`+old.Metadata()["resourceVersion"].(string)+`",`, 1)
	s.Send(200, "PUT", customDefinitions+"/widgets.example.com", client.JSON, text)
	for range client.Daemons(s.T) - 1 { // other daemons see the change some milliseconds later, or when they serve discovery
		s.Send(200, "GET", "/apis", "", "")
	}
}

// unknown checks that path returns 404 after its CRD was deleted. If several daemons share an etcd,
// it waits for each daemon, because watches deliver the deletion later.
func (s customSession) unknown(path string) {
	s.T.Helper()
	daemons := client.Daemons(s.T)
	if daemons == 1 {
		s.Send(404, "GET", path, "", "")
		return
	}
	in := 0 // consecutive responses with code 404
	s.until(path+" is unknown", func() bool {
		if answer, err := s.Get(s.Ctx, path); err == nil && answer.Code == 404 {
			in++
		} else {
			in = 0
		}
		return in == daemons
	})
}

// widget returns a Widget as JSON. more contains additional fields, each after a comma.
func widget(name, more string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"}` + more + `}`
}

func (s customSession) create(name, more string) client.Object {
	s.T.Helper()
	return s.Send(201, "POST", widgets, client.JSON, widget(name, more)).Object()
}

func (s customSession) read(name string) client.Object {
	s.T.Helper()
	return s.Send(200, "GET", widgets+"/"+name, "", "").Object()
}

func part(o client.Object, name string) string {
	return client.Object{name: o[name]}.String()
}

func (s customSession) check(label, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: %s, want %s", label, got, want)
	}
}
