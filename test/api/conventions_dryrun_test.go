package api

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A trace is what a dry run must leave as it was.
// listVersion is the version of a list itself.
var listVersion = regexp.MustCompile(`^\{"kind":"\w+","apiVersion":"[\w/.]+","metadata":\{"resourceVersion":"\d+"`)

func (s *testServer) snapshotState(t testing.TB) (state string) {
	t.Helper()
	for _, path := range []string{configMaps, "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces", "/api/v1/nodes"} {
		body := string(s.get(t, 200, path).Body)
		if client.OnEtcd() { // where others write, too
			body = listVersion.ReplaceAllString(body, "")
		}
		state += body + "\n"
	}
	return state
}

// TestConventionDryRun: each verb, on objects, collections and sub-resources, answers as if it had
// happened, and leaves no trace: neither state nor version nor event.
func TestConventionDryRun(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) { c.Controllers = daemon.TestControllers }) // others write in namespaces that are new
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces/default/serviceaccounts", client.JSON, `{"metadata":{"name":"default"}}`)
	s.create(t, configMaps, "a", map[string]string{"g": "1"})
	s.create(t, configMaps, "b", nil)
	s.send(t, 201, http.MethodPost, configMaps, client.JSON, `{"metadata":{"name":"held","finalizers":["e.com/x"]}}`)
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"other"}}`)
	const pods, deployments = "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments"
	const podBody = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	const nodeBody = `{"metadata":{"name":"n"}}`
	const deployment = `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	s.send(t, 201, http.MethodPost, pods, client.JSON, podBody)
	s.send(t, 201, http.MethodPost, deployments, client.JSON, deployment)
	before := s.snapshotState(t)
	w := s.watch(t, configMaps+"?resourceVersion="+textConventions(s.version(t)))
	for _, c := range []struct {
		code                            int
		method, path, contentType, body string
		wants                           string // kind of the answer
	}{
		{201, "POST", configMaps, client.JSON, `{"metadata":{"name":"x"}}`, "ConfigMap"},
		{201, "POST", configMaps, client.JSON, `{"metadata":{"generateName":"x-"}}`, "ConfigMap"},
		{409, "POST", configMaps, client.JSON, `{"metadata":{"name":"a"}}`, "Status"},
		{422, "POST", configMaps, client.JSON, `{"metadata":{"name":"A_"}}`, "Status"},
		{201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"x"}}`, "Namespace"},
		{201, "POST", "/api/v1/nodes", client.JSON, nodeBody, "Node"},
		{200, "PUT", configMaps + "/a", client.JSON, `{"metadata":{"name":"a"},"data":{"x":"1"}}`, "ConfigMap"},
		{404, "PUT", configMaps + "/none", client.JSON, `{"metadata":{"name":"none"}}`, "Status"},
		{409, "PUT", configMaps + "/a", client.JSON, `{"metadata":{"name":"a","resourceVersion":"1"},"data":{"x":"1"}}`, "Status"},
		{200, "PATCH", configMaps + "/a", client.MergePatch, `{"data":{"x":"1"}}`, "ConfigMap"},
		{200, "PATCH", configMaps + "/a", client.JSONPatch, `[{"op":"add","path":"/data","value":{"x":"1"}}]`, "ConfigMap"},
		{200, "PATCH", configMaps + "/a", conventionTypeStrategic, `{"data":{"x":"1"}}`, "ConfigMap"},
		{200, "PATCH", configMaps + "/a", conventionTypeApply, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"x":"1"}}`, "ConfigMap"},
		{201, "PATCH", configMaps + "/x", conventionTypeApply, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`, "ConfigMap"},
		{200, "DELETE", configMaps + "/a", "", "", "Status"},
		{200, "DELETE", configMaps + "/held", "", "", "ConfigMap"},
		{404, "DELETE", configMaps + "/none", "", "", "Status"},
		{200, "DELETE", configMaps, "", "", "Status"},
		{200, "DELETE", configMaps + "?labelSelector=g", "", "", "Status"},
		{200, "DELETE", "/api/v1/namespaces/other", "", "", "Namespace"},
		{200, "PATCH", pods + "/p/status", client.MergePatch, `{"status":{"phase":"Running"}}`, "Pod"},
		{200, "DELETE", pods + "/p", "", "", ""},
		{201, "POST", pods + "/p/binding", client.JSON, `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, "Status"},
		{201, "POST", pods + "/p/eviction", client.JSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`, "Status"},
		{200, "PUT", deployments + "/d/scale", client.JSON, `{"metadata":{"name":"d"},"spec":{"replicas":5}}`, "Scale"},
		{200, "PATCH", deployments + "/d/scale", client.MergePatch, `{"spec":{"replicas":5}}`, "Scale"},
	} {
		t.Run(c.method+" "+c.path+" "+c.contentType, func(t *testing.T) {
			separator := "?"
			if len(c.path) > len(configMaps) && c.path[len(configMaps)] == '?' {
				separator = "&"
			}
			var body any
			if c.body != "" {
				body = c.body
			}
			a := s.send(t, c.code, c.method, c.path+separator+"fieldManager=m&dryRun=All", c.contentType, body)
			if kind := a.Object()["kind"]; c.wants != "" && kind != c.wants {
				t.Errorf("the answer is a %v: %v", kind, a)
			}
			if after := s.snapshotState(t); after != before {
				t.Fatalf("it left a trace:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
	// Options in the body of a delete do the same.
	for _, path := range []string{configMaps + "/a", configMaps, pods + "/p"} {
		for _, contentType := range []string{client.JSON, typeYAML} {
			s.send(t, 200, http.MethodDelete, path, contentType, `{"dryRun":["All"]}`)
		}
	}
	s.send(t, 200, http.MethodDelete, configMaps+"/a", typeYAML, "dryRun:\n- All\n")
	s.send(t, 201, http.MethodPost, pods+"/p/eviction", client.JSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`)
	if after := s.snapshotState(t); after != before {
		t.Fatalf("it left a trace:\n%s\nbefore:\n%s", after, before)
	}
	s.create(t, configMaps, "real", nil)
	nextConventions(t, w, "ADDED/real")
}

// TestDryRunAllocates: the ports and addresses of a dry run are free afterwards, and those
// of an object that a dry run deletes are not.
func TestDryRunAllocates(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const services = "/api/v1/namespaces/default/services"
	body := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"type":"NodePort","ports":[{"port":1,"nodePort":30123}]}}`
	}
	dry := s.send(t, 201, http.MethodPost, services+"?dryRun=All", client.JSON, body("a")).Object()
	spec, _ := dry["spec"].(map[string]any)
	if address, _ := spec["clusterIP"].(string); address == "" || dry.UID() == "" || dry.Metadata()["creationTimestamp"] == nil {
		t.Errorf("the answer is not like the real one: %v", dry)
	}
	s.send(t, 201, http.MethodPost, services, client.JSON, body("b"))
	s.send(t, 422, http.MethodPost, services+"?dryRun=All", client.JSON, body("c"))
	s.send(t, 200, http.MethodDelete, services+"/b?dryRun=All", "", nil)
	s.send(t, 422, http.MethodPost, services, client.JSON, body("c"))
	s.send(t, 200, http.MethodPatch, services+"/b?dryRun=All", client.MergePatch, `{"spec":{"type":"ClusterIP"}}`)
	s.send(t, 422, http.MethodPost, services, client.JSON, body("c"))
}

// TestDryRunValues: no value is no dry run, and only All is one.
func TestDryRunValues(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for i, query := range []string{"dryRun", "dryRun=", "dryRun=&dryRun="} {
		name := string(rune('a' + i))
		s.create(t, configMaps+"?"+query, name, nil)
		s.send(t, 200, http.MethodPatch, configMaps+"/"+name+"?"+query, client.MergePatch, `{"data":{"x":"1"}}`)
		if o := s.get(t, 200, configMaps+"/"+name).Object(); o.Data("x") != "1" {
			t.Errorf("%s: %v", query, o)
		}
		if i > 0 {
			s.send(t, 200, http.MethodDelete, configMaps+"/"+name+"?"+query, "", nil)
			s.get(t, 404, configMaps+"/"+name)
		}
	}
	for _, c := range []struct{ method, path, contentType, body, kind string }{
		{"POST", configMaps, client.JSON, `{"metadata":{"name":"z"}}`, "CreateOptions"},
		{"PUT", configMaps + "/a", client.JSON, `{"metadata":{"name":"a"}}`, "UpdateOptions"},
		{"PATCH", configMaps + "/a", client.MergePatch, `{}`, "PatchOptions"},
		{"PATCH", configMaps + "/a", conventionTypeApply, `{}`, "PatchOptions"},
		{"DELETE", configMaps + "/a", "", "", "DeleteOptions"},
		{"DELETE", configMaps, "", "", "DeleteOptions"},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		for query, shown := range map[string]string{"dryRun=Some": `["Some"]`, "dryRun=all": `["all"]`, "dryRun=All&dryRun=None": `["All","None"]`} {
			a := s.send(t, 0, c.method, c.path+"?fieldManager=m&"+query, c.contentType, body)
			wantFault(t, a, 422, "Invalid", c.kind+"."+metaName+` "" is invalid: dryRun: Unsupported value: `+shown+`: supported values: "All"`)
		}
	}
	a := s.send(t, 0, http.MethodDelete, configMaps+"/a", client.JSON, `{"dryRun":["Some"]}`)
	wantFault(t, a, 422, "Invalid", "DeleteOptions."+metaName+` "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`)
	s.get(t, 200, configMaps+"/a")
	s.get(t, 404, configMaps+"/z")
}
