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

// customSession is a server and the time that a test may take.
type customSession struct{ client.Session }

func serveCustom(t *testing.T, change func(*daemon.Config)) customSession {
	t.Helper()
	return customSession{client.Open(t, change)}
}

func TestCustomTranscripts(t *testing.T) {
	t.Parallel()
	runTranscripts(t, "custom", "platform", nil)
}

// A customDefinition is that of widgets, with some of it replaced.
type customDefinition struct {
	scope    string // "" for Namespaced
	names    string // members beside plural and kind, with a comma before each
	versions string // instead of v1
	schema   string // of v1
	more     string // members of v1, with a comma before each
}

// String is the object.
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

// define creates the definition of widgets.
func (s customSession) define(d customDefinition) client.Object {
	s.T.Helper()
	return s.Send(201, "POST", customDefinitions, client.JSON, d.String()).Object()
}

// updateDefinition puts another definition in the place of the one that there is.
func (s customSession) updateDefinition(d customDefinition) {
	s.T.Helper()
	old := s.Send(200, "GET", customDefinitions+"/widgets.example.com", "", "").Object()
	text := strings.Replace(d.String(), `"metadata":{`, `"metadata":{"resourceVersion":"`+old.Metadata()["resourceVersion"].(string)+`",`, 1)
	s.Send(200, "PUT", customDefinitions+"/widgets.example.com", client.JSON, text)
	for range client.Daemons(s.T) - 1 { // the others have it some milliseconds later, or when they are asked what there is
		s.Send(200, "GET", "/apis", "", "")
	}
}

// unknown wants a path of a definition that was deleted, or of its objects, to be found no more: at
// once by the daemon that has answered that it is deleted, some milliseconds later by the others.
func (s customSession) unknown(path string) {
	s.T.Helper()
	daemons := client.Daemons(s.T)
	if daemons == 1 {
		s.Send(404, "GET", path, "", "")
		return
	}
	in := 0 // how many, one after the other, have not found it
	s.until(path+" is unknown", func() bool {
		if answer, err := s.Get(s.Ctx, path); err == nil && answer.Code == 404 {
			in++
		} else {
			in = 0
		}
		return in == daemons
	})
}

// widget is an object with more members, each with a comma before it.
func widget(name, more string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"}` + more + `}`
}

// create creates a widget.
func (s customSession) create(name, more string) client.Object {
	s.T.Helper()
	return s.Send(201, "POST", widgets, client.JSON, widget(name, more)).Object()
}

// read reads a widget.
func (s customSession) read(name string) client.Object {
	s.T.Helper()
	return s.Send(200, "GET", widgets+"/"+name, "", "").Object()
}

// spec is a part of an object as JSON.
func part(o client.Object, name string) string {
	return client.Object{name: o[name]}.String()
}

// check compares.
func (s customSession) check(what, got, want string) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("%s: %s, want %s", what, got, want)
	}
}
