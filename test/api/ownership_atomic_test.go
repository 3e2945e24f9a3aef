package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// An atomicField is a field of a custom resource that managers own as a whole.
type atomicField struct {
	schema, before string // schemas of spec.x; before applies to the first write, if it differs
	one, two       string // values of spec.x
	field          string // the field in the conflict
}

// TestAtomicFields checks that two writers of an atomic field conflict, even if the field was
// atomic only for the first write. An apply must not overwrite another manager's update.
func TestAtomicFields(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	const open = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
	const list, atomic = `{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"v":{"type":"string"}},"required":["name"]}`, `,"x-kubernetes-map-type":"atomic"}`
	const keyed = list + `,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]}`
	const fields = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}`
	i := 0
	for name, p := range map[string]atomicField{
		"list of objects in an open object": {open, "", `{"l":[{"a":"1"}]}`, `{"l":[{"a":"2"}]}`, ".spec.x.l"},
		"list of lists in an open value":    {`{"x-kubernetes-preserve-unknown-fields":true}`, "", `[[{"a":"1"}]]`, `[[{"a":"2"}]]`, ".spec.x"},
		"list in an embedded object": {`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-embedded-resource":true}`, "",
			`{"apiVersion":"v1","kind":"K","l":[{"a":"1"}]}`, `{"apiVersion":"v1","kind":"K","l":[{"a":"2"}]}`, ".spec.x.l"},
		"open list in an item": {`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"name":{"type":"string"}},"required":["name"]}}`, "",
			`[{"name":"n","l":[{"a":"1"}]}]`, `[{"name":"n","l":[{"a":"2"}]}]`, `.spec.x[name="n"].l`},
		"object that becomes a text":       {open, "", `{"o":{"a":"1"}}`, `{"o":"a"}`, ".spec.x.o"},
		"text that becomes an object":      {open, "", `{"o":"a"}`, `{"o":{"a":"1"}}`, ".spec.x.o"},
		"list that had keys":               {list + `}`, keyed, `[{"name":"n","v":"1"}]`, `[{"name":"m","v":"1"}]`, ".spec.x"},
		"list that was a set":              {`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, `["a"]`, `["b"]`, ".spec.x"},
		"object that had fields":           {fields + atomic, fields + `}`, `{"a":"1"}`, `{"b":"1"}`, ".spec.x"},
		"open object that had fields":      {strings.TrimSuffix(open, "}") + atomic, open, `{"a":"1"}`, `{"b":"1"}`, ".spec.x"},
		"map that had keys":                {`{"type":"object","additionalProperties":{"type":"string"}` + atomic, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"a":"1"}`, `{"b":"1"}`, ".spec.x"},
		"objects of a map that had fields": {`{"type":"object","additionalProperties":` + fields + atomic + `}`, `{"type":"object","additionalProperties":` + fields + `}}`, `{"k":{"a":"1"}}`, `{"k":{"b":"1"}}`, ".spec.x.k"},
	} {
		i++
		t.Run(name, func(t *testing.T) {
			conflicts(client.Session{Server: s.Server, Ctx: s.Ctx, T: t}, p, fmt.Sprintf("w%d.example.com", i))
		})
	}
}

func conflicts(s client.Session, p atomicField, group string) {
	definition := func(x string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.` + group + `"},"spec":{"group":"` + group + `","scope":"Namespaced",
			"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"x":` + x + `}}}}}}]}}`
	}
	before := p.before
	if before == "" {
		before = p.schema
	}
	path := "/apis/" + group + "/v1/namespaces/default/widgets/a"
	widget := func(x string) string {
		return `{"apiVersion":"` + group + `/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"x":` + x + `}}`
	}
	const apply = "application/apply-patch+yaml"
	s.Send(201, "POST", definitions, client.JSON, definition(before))
	s.Send(201, "PATCH", path+"?fieldManager=one", apply, widget(p.one))
	if p.before != "" {
		s.Send(200, "PATCH", definitions+"/widgets."+group, client.MergePatch, definition(p.schema))
	}
	message, _ := s.Send(409, "PATCH", path+"?fieldManager=two", apply, widget(p.two)).Object()["message"].(string)
	if want := `conflict with "one": ` + p.field; !strings.HasSuffix(message, want) {
		s.T.Errorf("the conflict is %s, want %s", message, want)
	}
	forced := s.Send(200, "PATCH", path+"?fieldManager=two&force=true", apply, widget(p.two)).Object()
	if _, owners := aside(forced); strings.Contains(strings.Join(owners, "\n"), "one Apply") && p.field == ".spec.x" {
		s.T.Errorf("one still owns: %s", owners)
	}
	s.Send(200, "PATCH", path+"?fieldManager=user", client.MergePatch, `{"spec":{"x":null}}`)
	s.Send(200, "PATCH", path+"?fieldManager=user", client.MergePatch, `{"spec":{"x":`+p.one+`}}`)
	s.Send(409, "PATCH", path+"?fieldManager=two", apply, widget(p.two))
}
