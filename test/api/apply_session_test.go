package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/test/client"
)

const (
	applyTypeApply  = "application/apply-patch+yaml"
	applyDeployment = "/apis/apps/v1/namespaces/default/deployments"
	services        = "/api/v1/namespaces/default/services"
)

type applySession struct{ client.Session }

func (s applySession) create(path, body string) client.Object {
	s.T.Helper()
	return s.Send(201, "POST", path, client.JSON, body).Object()
}

func (s applySession) get(path string) client.Object {
	s.T.Helper()
	return s.Send(200, "GET", path, "", "").Object()
}

// apply applies a configuration. manager may end with more query parameters, separated by "&".
func (s applySession) apply(code int, manager, path, config string) client.Object {
	s.T.Helper()
	return s.Send(code, "PATCH", path+"?fieldManager="+manager, applyTypeApply, config).Object()
}

func (s applySession) merge(manager, path, patch string) client.Object {
	s.T.Helper()
	return s.Send(200, "PATCH", path+"?fieldManager="+manager, client.MergePatch, patch).Object()
}

func (s applySession) define(plural, kind, properties string) {
	s.T.Helper()
	s.create("/apis/apiextensions.platform.io/v1/customresourcedefinitions", fmt.Sprintf(
		`{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":%q,"kind":%q},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{%s}}}}]}}`, plural, plural, kind, properties))
	for range client.Daemons(s.T) - 1 { // the other servers serve the CRD after their next discovery request
		s.get("/apis")
	}
}

// ownersApply returns an object's managed fields, one line per entry: manager, operation,
// subresource if any, and fields.
func ownersApply(o client.Object) string {
	list, _ := o.Metadata()["managedFields"].([]any)
	var lines []string
	for _, v := range list {
		e := v.(map[string]any)
		fields, err := json.Marshal(e["fieldsV1"])
		if err != nil {
			panic(err)
		}
		line := fmt.Sprint(e["manager"], " ", e["operation"])
		if e["subresource"] != nil {
			line += fmt.Sprint(" ", e["subresource"])
		}
		lines = append(lines, line+" "+string(fields))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (s applySession) owned(o client.Object, want ...string) {
	s.T.Helper()
	if got := ownersApply(o); got != strings.Join(want, "\n") {
		s.T.Errorf("the owners are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func (s applySession) owns(o client.Object, want ...string) {
	s.T.Helper()
	for _, line := range want {
		if got := ownersApply(o); !slices.Contains(strings.Split(got, "\n"), line) {
			s.T.Errorf("the owners are\n%s\nwithout\n%s", got, line)
		}
	}
}

// valueAt returns the value at a dotted path as JSON, or null if there is none. Numbers in the path
// are list indexes.
func valueAt(o client.Object, path string) string {
	var v any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(x) {
				return "null"
			}
			v = x[i]
		default:
			return "null"
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (s applySession) has(o client.Object, want map[string]string) {
	s.T.Helper()
	for path, value := range want {
		if got := valueAt(o, path); got != value {
			s.T.Errorf("%s is %s, want %s", path, got, value)
		}
	}
}
