package extension

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	conversionDefinitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	routesV1              = "/apis/example.com/v1/namespaces/default/routes"
	routesV2              = "/apis/example.com/v2/namespaces/default/routes"
	conversionTypeApply   = "application/apply-patch+yaml"
	typeMerge             = "application/merge-patch+json"
	typeJSON              = "application/json-patch+json"
)

type conversionSession struct{ client.Session }

func serveConversion(t *testing.T, change func(*daemon.Config)) conversionSession {
	t.Helper()
	return conversionSession{client.Open(t, change)}
}

// routes describes the Route CRD. Empty fields default to the values in brackets.
type routes struct {
	stored         string // storage version [v1]
	versions       string // all versions in order [v1 v2]
	reviewVersions string // [v1]
	clientConfig   string
	strategy       string // conversion strategy [Webhook]
}

func (r routes) String() string {
	if r.stored == "" {
		r.stored = "v1"
	}
	if r.versions == "" {
		r.versions = "v1 v2"
	}
	if r.reviewVersions == "" {
		r.reviewVersions = `"v1"`
	}
	schemas := map[string]string{
		"v1": `"host":{"type":"string"},"port":{"type":"string"},"proto":{"type":"string","default":"tcp"},"replicas":{"type":"integer"}`,
		"v2": `"hostPort":{"type":"string","minLength":3},"proto":{"type":"string"},"replicas":{"type":"integer"}`,
	}
	schemas["v0"] = schemas["v1"]
	var versions []string
	for _, name := range strings.Fields(r.versions) {
		versions = append(versions, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s}},"status":{"type":"object","x-platform-preserve-unknown-fields":true}}}}}`,
			name, name == r.stored, schemas[name]))
	}
	conversion := `{"strategy":"None"}`
	if r.strategy == "" {
		conversion = fmt.Sprintf(`{"strategy":"Webhook","webhook":{"conversionReviewVersions":[%s],"clientConfig":%s}}`, r.reviewVersions, r.clientConfig)
	}
	return `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"routes.example.com"},"spec":{"group":"example.com",
		"scope":"Namespaced","names":{"plural":"routes","kind":"Route"},"conversion":` + conversion + `,"versions":[` + strings.Join(versions, ",") + `]}}`
}

func (s conversionSession) define(r routes) {
	s.T.Helper()
	s.Send(201, "POST", conversionDefinitions, client.JSON, r.String())
}

func (s conversionSession) redefine(code int, r routes) client.Answer {
	s.T.Helper()
	old := s.Send(200, "GET", conversionDefinitions+"/routes.example.com", "", "").Object()
	text := strings.Replace(r.String(), `"metadata":{`, fmt.Sprintf(`"metadata":{"resourceVersion":%q,`, old.Metadata()["resourceVersion"]), 1)
	return s.Send(code, "PUT", conversionDefinitions+"/routes.example.com", client.JSON, text)
}

func routed(t *testing.T) (conversionSession, *conversionHook) {
	t.Helper()
	s, h := serveConversion(t, nil), startConversion(t)
	s.define(routes{clientConfig: h.clientConfig()})
	return s, h
}

func v1Conversion(name, host, port string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Route","metadata":{"name":%q},"spec":{"host":%q,"port":%q}}`, name, host, port)
}

func v2(name, hostPort string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v2","kind":"Route","metadata":{"name":%q},"spec":{"hostPort":%q}}`, name, hostPort)
}

// want checks that the compact JSON of o contains part.
func (s conversionSession) want(o any, part string) {
	s.T.Helper()
	b, _ := json.Marshal(o)
	if !strings.Contains(string(b), part) {
		s.T.Errorf("%s, want %s", b, part)
	}
}

func specConversion(o client.Object) string {
	b, _ := json.Marshal(o["spec"])
	return string(b)
}

func (s conversionSession) wantSpec(path, want string) client.Object {
	s.T.Helper()
	o := s.Send(200, "GET", path, "", "").Object()
	if got := specConversion(o); got != want {
		s.T.Errorf("%s has %s, want %s", path, got, want)
	}
	return o
}

func message(a client.Answer) string {
	var status struct{ Message string }
	_ = json.Unmarshal(a.Body, &status)
	return status.Message
}
