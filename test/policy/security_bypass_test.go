package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

// denyEverything is a policy that rejects every admitted request.
const denyEverything = `{"metadata":{"name":"deny-everything"},"spec":{"failurePolicy":"Fail",
	"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*/*"]}]},
	"validations":[{"expression":"false"}]}}`

// A bypass tries all writes of the resources in the discovery documents.
type bypass struct {
	t      *testing.T
	s      *client.Server
	bodies map[string]map[string]any // valid objects, by resource
	sent   int
	// answers has the response by "verb resource", preferably one of the policy.
	answers map[string]string
}

// try sends a write, as a dry run too. It must fail.
func (b *bypass) try(verb, resource, method, path, kind string, body any) {
	b.t.Helper()
	text := client.Encode(b.t, body)
	for _, query := range []string{"", "dryRun=All"} {
		target := path
		if query != "" {
			target += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + query
		}
		a := mustSend(b.t, b.s, method, target, kind, string(text))
		b.sent++
		if a.Code < 400 {
			b.t.Errorf("%s %s as %s passes: %.300s", method, target, kind, a)
		}
		if name := verb + " " + resource; !strings.Contains(b.answers[name], "deny-everything") {
			b.answers[name] = a.String()
		}
	}
}

// copyOf returns body with another name, or with generateName if name is empty.
func copyOf(body map[string]any, name string) map[string]any {
	copied, metadata := maps.Clone(body), maps.Clone(body["metadata"].(map[string]any))
	delete(metadata, "resourceVersion")
	delete(metadata, "uid")
	delete(metadata, "managedFields")
	if metadata["name"] = name; name == "" {
		delete(metadata, "name")
		metadata["generateName"] = "new-"
	}
	copied["metadata"] = metadata
	return copied
}

// rename returns a new object like body in a version, and its name.
func rename(resource, version, kind string, body map[string]any) (string, map[string]any) {
	spec, _ := body["spec"].(map[string]any)
	spec = maps.Clone(spec)
	name := "new"
	switch resource {
	case "ipaddresses":
		name = "192.0.2.99"
	case "services":
		spec = map[string]any{"ports": []any{map[string]any{"port": 80}}}
	case "customresourcedefinitions":
		spec["group"] = "new.example.com"
		name = spec["names"].(map[string]any)["plural"].(string) + ".new.example.com"
	case "apiservices":
		spec["group"] = "new.example.com"
		name = spec["version"].(string) + ".new.example.com"
	}
	body = copyOf(body, name)
	if body["apiVersion"], body["kind"] = version, kind; spec != nil {
		body["spec"] = spec
	}
	return name, body
}

// patches tries all types of patches of the object at path.
func (b *bypass) patches(verbs, resource, path string, body map[string]any) {
	label := map[string]any{"metadata": map[string]any{"labels": map[string]any{"changed": "yes"}}}
	b.try("patch", resource, "PATCH", path, typeMerge, label)
	b.try("patch", resource, "PATCH", path, typeStrategic, label)
	b.try("patch", resource, "PATCH", path, typeJSONPatch, []any{map[string]any{"op": "add", "path": "/metadata/labels", "value": map[string]any{"changed": "yes"}}})
	apply := copyOf(body, body["metadata"].(map[string]any)["name"].(string))
	apply["metadata"].(map[string]any)["labels"] = map[string]any{"changed": "yes"}
	b.try("apply", resource, "PATCH", path+"?fieldManager=bypass&force=true", typeApply, apply)
}

func connects(subresource string) bool {
	return slices.Contains([]string{"attach", "exec", "portforward", "proxy"}, subresource)
}

// resource tries all writes of a resource or subresource of a served version.
func (b *bypass) resource(base string, version string, r metav1.APIResource) {
	main, sub, _ := strings.Cut(r.Name, "/")
	if r.Namespaced {
		base += "/namespaces/default"
	}
	collection := base + "/" + main
	stored := b.bodies[main]
	switch {
	case r.Name == "componentstatuses": // read-only
		return
	case r.Name == "bindings" || r.Name == "pods/binding":
		stored = map[string]any{"metadata": map[string]any{"name": "unbound"}}
	case stored == nil:
		b.t.Errorf("no %s is stored", main)
		return
	}
	path := collection + "/" + stored["metadata"].(map[string]any)["name"].(string)
	if sub != "" {
		path += "/" + sub
	}
	answer, err := b.s.Get(b.t.Context(), path)
	if err != nil {
		b.t.Fatal(err)
	}
	body := map[string]any{}
	if answer.Code != http.StatusOK || json.Unmarshal(answer.Body, &body) != nil || body["metadata"] == nil {
		body = map[string]any{"apiVersion": version, "kind": r.Kind, "metadata": stored["metadata"], "target": map[string]any{"kind": "Node", "name": "x"}, "spec": map[string]any{}}
		if r.Version != "" {
			body["apiVersion"] = strings.TrimPrefix(r.Group+"/"+r.Version, "/")
		}
	}
	changed := maps.Clone(body)
	changed["metadata"] = maps.Clone(body["metadata"].(map[string]any))
	changed["metadata"].(map[string]any)["labels"] = map[string]any{"changed": "yes"}
	for _, verb := range r.Verbs {
		switch {
		case connects(sub):
			method := map[string]string{"get": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}[verb]
			b.try(verb, r.Name, method, path+"?command=x&container=c&ports=80", typeMerge, map[string]any{})
		case verb == "create" && sub != "":
			b.try(verb, r.Name, "POST", path, typeJSON, body)
		case verb == "create":
			if r.Name == "bindings" {
				b.try(verb, r.Name, "POST", collection, typeJSON, body)
				continue
			}
			name, another := rename(main, version, r.Kind, stored)
			b.try(verb, r.Name, "POST", collection, typeJSON, another)
			b.try(verb, r.Name, "POST", collection, typeJSON, copyOf(another, ""))
			b.try("create by update", r.Name, "PUT", collection+"/"+name, typeJSON, another)
			b.try("create by apply", r.Name, "PATCH", collection+"/"+name+"?fieldManager=bypass", typeApply, another)
		case verb == "update":
			b.try(verb, r.Name, "PUT", path, typeJSON, changed)
		case verb == "patch":
			b.patches(verb, r.Name, path, body)
		case verb == "delete":
			b.try(verb, r.Name, "DELETE", path, typeJSON, map[string]any{})
			b.try(verb, r.Name, "DELETE", path, typeJSON, map[string]any{"gracePeriodSeconds": 0, "propagationPolicy": "Orphan"})
		case verb == "deletecollection":
			b.try(verb, r.Name, "DELETE", collection, typeJSON, map[string]any{})
		}
	}
}

// TestNothingBypassesAdmission sends every type of write of every resource and subresource in all
// served versions to a server whose policy rejects everything. No write may pass. Each must reach
// the policy, which does not apply to policies and webhooks themselves.
func TestNothingBypassesAdmission(t *testing.T) {
	t.Parallel()
	optional := map[string]bool{"admissionregistration.k8s.io/v1beta1": true}
	c, err := catalog.NewWithConfig(meta.Kubernetes, optional, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		c.Naming, c.Controllers, c.API.RuntimeConfig = "kubernetes", client.KeepingControllers, optional
	})
	b := &bypass{t: t, s: s, bodies: map[string]map[string]any{}, answers: map[string]string{}}
	all := fuzzObjects(t, c)
	for _, q := range all {
		mustSend(t, s, "POST", q.collection(), typeJSON, text(q.body))
		var body map[string]any
		client.Decode(t, text(q.body), &body)
		b.bodies[q.kind.Resource] = body
	}
	mustSend(t, s, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", typeJSON, blobDefinition)
	mustSend(t, s, "POST", blobs, typeJSON, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":{}}`)
	b.bodies["blobs"] = map[string]any{"metadata": map[string]any{"name": "w"}, "data": map[string]any{}}
	mustSend(t, s, "POST", "/apis/example.org/v1/namespaces/default/things", typeJSON, `{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"x"}}`)
	b.bodies["things"] = map[string]any{"metadata": map[string]any{"name": "x"}}
	mustSend(t, s, "POST", pods, typeJSON, `{"metadata":{"name":"unbound"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
	mustSend(t, s, "POST", policies+"ies", typeJSON, denyEverything)
	mustSend(t, s, "POST", policies+"ybindings", typeJSON, `{"metadata":{"name":"deny"},"spec":{"policyName":"deny-everything","validationActions":["Deny"]}}`)
	client.Eventually(t, func() error {
		if a := mustSend(t, s, "POST", configMaps+"?dryRun=All", typeJSON, configMap("ready")); a.Code < 400 {
			return fmt.Errorf("the policy is not in effect: %s", a)
		}
		return nil
	})
	before := storedLists(t, s, all, false)
	wanted := map[string]bool{}
	for base, list := range discover(t, s) {
		if strings.HasPrefix(list.GroupVersion, "admissionregistration.k8s.io/") || strings.HasPrefix(list.GroupVersion, "auth") {
			continue
		}
		for _, r := range list.APIResources {
			b.resource(base, list.GroupVersion, r)
			for _, verb := range r.Verbs {
				switch verb {
				case "create", "update", "patch", "delete", "deletecollection":
					wanted[verb+" "+r.Name] = true
				}
				if _, sub, _ := strings.Cut(r.Name, "/"); verb == "patch" && !connects(sub) {
					wanted["apply "+r.Name] = true
				}
			}
		}
	}
	after := storedLists(t, s, all, false)
	for path, was := range before {
		if now := after[path]; now != was {
			t.Errorf("%s has changed: %s", path, difference(was, now))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if answer := b.answers[name]; !strings.Contains(answer, "deny-everything") {
			t.Errorf("no request to %s reaches the policy: %.400s", name, answer)
		}
	}
	client.Figures(t, "%d writes of %d verbs and resources", b.sent, len(wanted))
}

// discover returns the discovery documents of all versions that the server itself serves, by path.
func discover(t *testing.T, s *client.Server) map[string]metav1.APIResourceList {
	t.Helper()
	var groups metav1.APIGroupList
	client.Decode(t, mustSend(t, s, "GET", "/apis", "", "").Body, &groups)
	paths := []string{"/api/v1"}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			paths = append(paths, "/apis/"+version.GroupVersion)
		}
	}
	documents := map[string]metav1.APIResourceList{}
	for _, path := range paths {
		answer, err := s.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Code == http.StatusServiceUnavailable {
			continue // the version of an APIService
		}
		var list metav1.APIResourceList
		client.Decode(t, answer.Body, &list)
		documents[path] = list
	}
	return documents
}
