package policy

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/test/client"
)

// restart starts a daemon on a data directory, without the garbage collector, which would delete
// the test's objects.
func restart(t *testing.T, dir string) *client.Server {
	t.Helper()
	return client.Serve(t, dir, func(c *daemon.Config) { c.Controllers += ",-garbage-collector-controller" })
}

func expect(t *testing.T, s *client.Server, code int, method, path, kind, body string) string {
	t.Helper()
	answer, err := s.Do(t.Context(), method, path, kind, []byte(body))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if answer.Code != code {
		t.Errorf("%s %s (%s) %.200s: %.600s, want %d", method, path, kind, body, answer.String(), code)
	}
	return string(answer.Body)
}

const (
	leases      = "/apis/coordination.platform.io/v1/namespaces/default/leases"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	revisions   = "/apis/apps/v1/namespaces/default/controllerrevisions"
)

// deployment returns a Deployment as JSON. metadata contains additional fields for the Pod
// template's metadata.
func deployment(name, metadata string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"` + name + `"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"},` + metadata + `},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
}

// inProtobuf encodes a JSON document in Protobuf. text, which may be invalid JSON, replaces %s in
// the document.
func inProtobuf(t *testing.T, version, resource, document, text string) string {
	t.Helper()
	c, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	group, v, ok := strings.Cut(version, "/")
	if !ok {
		group, v = "", version
	}
	k := c.Kind(group, v, resource)
	return string(codec.WrapEnvelope(nil, k.APIVersion(), k.Kind, withText(t, k, document, text)))
}

// withText encodes a document in Protobuf with text in place of %s. It encodes a number of the same
// length and then replaces it, so that length prefixes are correct.
func withText(t *testing.T, k *schema.Kind, document, text string) []byte {
	t.Helper()
	digits := strings.Repeat("7", len(text))
	wire, err := codec.AppendProtobuf(nil, k.Message(), []byte(strings.Replace(document, "%s", digits, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(wire, []byte(digits), []byte(text), 1)
}

func nested(levels int) any {
	v := any([]any{})
	for range levels - 1 {
		v = []any{v}
	}
	return v
}

// TestPoison checks that every format rejects a value that the server could not decode again, with
// an error that contains the field name. All accepted objects exist after a restart.
func TestPoison(t *testing.T) {
	dir := t.TempDir()
	s := restart(t, dir)
	const (
		late     = `"9999-12-31T23:59:59-01:00"`
		closing  = `"}}],\"name\":\"x\"},\"metadata\":{\"namespace\":\"kube-system\",\"name\":\"x\"},\"x\":{"`
		protobuf = "application/vnd.platform.protobuf"
		managers = `"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":`
	)
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("a"))
	expect(t, s, 201, "POST", deployments, typeJSON, deployment("d", `"name":"x"`))
	expect(t, s, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", typeJSON, strings.NewReplacer("k8s.io", "platform.io", "x-kubernetes", "x-platform").Replace(blobDefinition))
	expect(t, s, 201, "POST", blobs, typeJSON, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":{}}`)
	late1 := `{"metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":` + late + `,"fieldsType":"FieldsV1","fieldsV1":{}}]}}`
	yamlDeployment := func(set string) string { return "# \n" + deployment("y", managers+set+`}]`) }
	var deepest []string
	for range 60 {
		deepest = append(deepest, `{"op":"add","path":"/data`+strings.Repeat("/a", len(deepest)*6)+`/a","value":{"a":{"a":{"a":{"a":{"a":{}}}}}}}`)
	}
	for _, test := range []struct {
		name, method, path, kind, body string
		code                           int
		says                           string
	}{
		{"year 10000 in managedFields", "PUT", configMaps + "/a", typeJSON, late1, 400, "metadata.managedFields[0].time"},
		{"year 10000 by YAML", "PUT", configMaps + "/a", typeYAML, "#\n" + late1, 400, "metadata.managedFields[0].time"},
		{"year 10000 by a patch", "PATCH", configMaps + "/a", typeMerge, late1, 422, "metadata.managedFields[0].time"},
		{"year 10000 with microseconds", "POST", leases, typeJSON, `{"metadata":{"name":"l"},"spec":{"renewTime":"9999-12-31T23:59:59.000000-01:00"}}`, 400, "spec.renewTime"},
		{"year before 0", "POST", leases, typeJSON, `{"metadata":{"name":"l"},"spec":{"renewTime":"0000-01-01T00:00:00.000000+01:00"}}`, 400, "spec.renewTime"},
		{"a text for a set of fields", "POST", deployments, typeJSON, deployment("j", managers+closing+`}]`), 400, ""},
		{"a text for a set of fields by YAML", "POST", deployments, typeYAML, yamlDeployment(closing), 400, ""},
		{"a text for a set of fields by a merge patch", "PATCH", deployments + "/d", typeMerge, `{"spec":{"template":{"metadata":{` + managers + closing + `}]}}}}`, 422, ""},
		{"a text for a set of fields by a strategic patch", "PATCH", deployments + "/d", typeStrategic, `{"spec":{"template":{"metadata":{` + managers + closing + `}]}}}}`, 422, ""},
		{"a text for a set of fields by a JSON patch", "PATCH", deployments + "/d", typeJSONPatch, `[{"op":"add","path":"/spec/template/metadata/managedFields","value":[{"fieldsV1":` + closing + `}]}]`, 422, ""},
		{"a number for a set of fields", "PATCH", deployments + "/d", typeMerge, `{"spec":{"template":{"metadata":{` + managers + `5}]}}}}`, 422, ""},
		{"a number no client reads, in a set of fields", "POST", deployments, typeJSON, deployment("j", managers+`{"f:a":1e400}}]`), 400, ""},
		{"a number no client reads, in a raw value", "POST", revisions, typeJSON, `{"metadata":{"name":"r"},"revision":1,"data":{"a":1e400}}`, 400, ""},
		{"a deep raw value", "POST", revisions, typeJSON, `{"metadata":{"name":"r"},"revision":1,"data":` + string(nestedValue(300)) + `}`, 400, "max depth"},
		{"a deep raw value by YAML", "POST", revisions, typeYAML, "#\n" + `{"metadata":{"name":"r"},"revision":1,"data":` + string(nestedValue(300)) + `}`, 400, "max depth"},
		{"a deep raw value in Protobuf", "POST", revisions, protobuf, inProtobuf(t, "apps/v1", "controllerrevisions", `{"metadata":{"name":"r"},"revision":1,"data":%s}`, text(nested(300))), 400, "max depth"},
		{"a very deep raw value in Protobuf", "POST", revisions, protobuf, inProtobuf(t, "apps/v1", "controllerrevisions", `{"metadata":{"name":"r"},"revision":1,"data":%s}`, text(nested(12_000))), 400, "max depth"},
		{"a raw value in Protobuf that is no JSON", "POST", deployments, protobuf, inProtobuf(t, "apps/v1", "deployments", `{"metadata":{"name":"p"},"spec":{"template":{"metadata":{"managedFields":[{"fieldsV1":%s}]}}}}`, `{"f:a":{}}}}`), 400, ""},
		{"a deep custom object", "POST", blobs, typeJSON, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"x"},"data":` + string(nestedValue(300)) + `}`, 400, "max depth"},
		{"a custom object made deep step by step", "PATCH", blobs + "/w", typeJSONPatch, "[" + strings.Join(deepest, ",") + "]", 422, "max depth"},
		{"a custom object made deep by an apply", "PATCH", blobs + "/w?fieldManager=m", typeApply, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":` + string(nestedValue(300)) + `}`, 400, "max depth"},
	} {
		if got := expect(t, s, test.code, test.method, test.path, test.kind, test.body); !strings.Contains(got, test.says) {
			t.Errorf("%s: %.600s does not say %q", test.name, got, test.says)
		} else if len(got) > 256<<10 {
			t.Errorf("%s: the answer has %d bytes", test.name, len(got))
		}
	}
	for _, test := range []struct{ method, path, kind, body string }{
		{"POST", revisions, typeJSON, `{"metadata":{"name":"deep"},"revision":1,"data":` + string(nestedValue(254)) + `}`},
		{"POST", revisions, protobuf, inProtobuf(t, "apps/v1", "controllerrevisions", `{"metadata":{"name":"wire"},"revision":1,"data":{"a":%s}}`, text(nested(254)))},
		{"PATCH", blobs + "/w", typeMerge, `{"data":` + string(nestedValue(254)) + `}`},
		{"PUT", configMaps + "/a", typeJSON, strings.Replace(late1, late, `"9999-12-31T23:59:59Z"`, 1)},
		{"PUT", configMaps + "/a", typeJSON, strings.Replace(strings.Replace(late1, late, `"9999-12-31T23:59:59Z"`, 1), "{}", "{ \"f:data\": {\"f:<\":\n{}, \"f:\xff\": {}} }", 1)},
	} {
		code := 200
		if test.method == "POST" {
			code = 201
		}
		expect(t, s, code, test.method, test.path, test.kind, test.body)
	}
	before := map[string]string{}
	for _, path := range []string{configMaps, deployments, revisions, leases, blobs} {
		before[path] = strings.Join(itemsOf(t, s, path), "\n")
	}
	s.Stop(t)
	s = restart(t, dir)
	for path, was := range before {
		if is := strings.Join(itemsOf(t, s, path), "\n"); is != was {
			t.Errorf("%s has changed: %s", path, difference(was, is))
		}
	}
}

// appendToJournal appends objects that a server would reject to the journal in a data directory. It
// sets their resource versions.
func appendToJournal(t *testing.T, dir string, writes ...persist.Write) {
	t.Helper()
	journal, err := persist.Open(dir, persist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	if _, err := journal.Recover(persist.Recovery{
		Item: func(persist.Item) error { return nil }, Base: func(persist.Revision) error { return nil }, Commit: func(persist.Commit) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	for _, w := range writes {
		const version = `"resourceVersion":"`
		if w.RevisionOffset = strings.Index(string(w.Value), version+`"`); w.RevisionOffset >= 0 {
			w.RevisionOffset += len(version)
		}
		results, err := journal.Append([]persist.Write{w})
		if err == nil {
			err = results[0].Err
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuarantine checks that a server starts despite undecodable objects, and serves all others. It
// reports the undecodable objects, which survive restarts and snapshots until an administrator
// deletes them.
func TestQuarantine(t *testing.T) {
	dir := t.TempDir()
	s := restart(t, dir)
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("good"))
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("spoilt"))
	expect(t, s, 201, "POST", rights+"/clusterrolebindings", typeJSON, `{"metadata":{"name":"late"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"view"}}`)
	s.Stop(t)
	head := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`
	const bindings = "rbac.authorization.platform.io/clusterrolebindings//"
	appendToJournal(t, dir,
		persist.Write{Key: "/configmaps/default/spoilt", Value: []byte(head + `spoilt","namespace":"default","resourceVersion":"9","creationTimestamp":"10000-01-01T00:00:00Z"}}`)},
		persist.Write{Key: "/configmaps/default/deep", Value: []byte(head + `deep","namespace":"default","resourceVersion":"9","annotations":` + string(nestedValue(12_000)) + `}}`)},
		persist.Write{Key: "/configmaps/default/twice", Value: []byte(head + `twice","namespace":"default","resourceVersion":"9"},"metadata":{"name":"x","namespace":"system"}}`)},
		persist.Write{Key: "/configmaps/default/other", Value: []byte(head + `another","namespace":"system","resourceVersion":"9"}}`)},
		persist.Write{Key: "/configmaps/default/torn", Value: []byte(head + `torn`)},
		persist.Write{Key: bindings + "late", Value: []byte(`{"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.platform.io/v1","metadata":{"name":"late","resourceVersion":"9"},
			"subjects":[{"kind":"User","name":"system:anonymous","apiGroup":"rbac.authorization.platform.io"}],"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":5}}`)},
		persist.Write{Key: "/namespaces//torn", Value: []byte(`{"kind":"Namespace"`)},
		persist.Write{Key: "no key at all", Value: []byte(`{}`)},
	)
	names := []string{"configmaps/default/deep", "configmaps/default/other", "configmaps/default/spoilt", "configmaps/default/torn", "configmaps/default/twice",
		"namespaces//torn", "no?key?at?all", bindings + "late"}
	for range 2 {
		s = restart(t, dir)
		metrics := expect(t, s, 200, "GET", "/metrics", "", "")
		for _, name := range names {
			if !strings.Contains(metrics, `troupe_unreadable_object{object="`+name+`"} `) {
				t.Errorf("/metrics does not name %s", name)
			}
		}
		if !strings.Contains(metrics, "troupe_unreadable_objects 8\n") {
			t.Error("/metrics does not count 8")
		}
		if ready := expect(t, s, 200, "GET", "/readyz?verbose", "", ""); !strings.Contains(ready, "8 unreadable objects") {
			t.Errorf("/readyz says %s", ready)
		}
		if items := itemsOf(t, s, configMaps); len(items) != 1 || !strings.Contains(items[0], `"name":"good"`) {
			t.Errorf("the list is %.1000v", items)
		}
		for _, name := range []string{"deep", "other", "spoilt", "torn", "twice"} {
			expect(t, s, http.StatusInternalServerError, "GET", configMaps+"/"+name, "", "")
			if got := expect(t, s, 409, "POST", configMaps, typeJSON, configMap(name)); !strings.Contains(got, "quarantined") {
				t.Errorf("a create says %s", got)
			}
			expect(t, s, 500, "PATCH", configMaps+"/"+name, typeMerge, `{}`)
			expect(t, s, 500, "PUT", configMaps+"/"+name, typeJSON, configMap(name))
			expect(t, s, 200, "DELETE", configMaps+"/"+name+"?dryRun=All", "", "")
		}
		expect(t, s, 500, "PATCH", configMaps+"/deep?fieldManager=m", typeApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"}}`)
		s.Stop(t)
	}
	s = restart(t, dir)
	expect(t, s, 200, "DELETE", configMaps+"/deep", "", "")
	expect(t, s, 404, "DELETE", configMaps+"/deep", "", "")
	expect(t, s, 404, "GET", configMaps+"/deep", "", "")
	expect(t, s, 200, "DELETE", rights+"/clusterrolebindings/late", "", "")
	expect(t, s, 200, "DELETE", "/api/v1/namespaces/torn", "", "")
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("deep"))
	expect(t, s, 200, "DELETE", configMaps, "", "")
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("spoilt"))
	expect(t, s, 200, "GET", configMaps+"/spoilt", "", "")
	s.Stop(t)
	s = restart(t, dir)
	expect(t, s, 200, "GET", configMaps+"/spoilt", "", "")
	if metrics := expect(t, s, 200, "GET", "/metrics", "", ""); !strings.Contains(metrics, "troupe_unreadable_objects 1\n") {
		t.Error("more is set aside than what has no key")
	}
	s.Stop(t)
	appendToJournal(t, dir, persist.Write{Key: "/namespaces//default", Value: []byte(`{"kind":"Namespace"`)})
	s = restart(t, dir) // usually it cannot be deleted, but this repairs it
	expect(t, s, 200, "GET", configMaps+"/spoilt", "", "")
	expect(t, s, 404, "POST", configMaps, typeJSON, configMap("new"))
	expect(t, s, 200, "DELETE", "/api/v1/namespaces/default", "", "")
	client.Eventually(t, func() error { // the server creates it again
		answer, err := s.Do(t.Context(), "GET", "/api/v1/namespaces/default", "", nil)
		if err == nil && answer.Code != 200 {
			err = &answer
		}
		return err
	})
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("new"))
}
