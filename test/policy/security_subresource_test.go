package policy

import (
	"strings"
	"testing"
)

// TestSubresources checks that a subresource requires its own permissions and changes only its own
// fields. Writes to it are validated and do not create objects.
func TestSubresources(t *testing.T) {
	v := start(t, createUsers(t, "main", "below"))
	const (
		apps, pods, nodes = "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/pods", "/api/v1/nodes"
		verbs             = `"verbs":["get","list","watch","create","update","patch","delete","deletecollection"]`
	)
	v.grant("main", "main", `{"apiGroups":["","apps"],"resources":["deployments","pods","nodes"],`+verbs+`}`)
	v.grant("below", "below", `{"apiGroups":["","apps"],"resources":["deployments/status","deployments/scale","pods/status","pods/binding","pods/eviction","nodes/status"],`+verbs+`}`)
	template := `"containers":[{"name":"c","image":"i"}]`
	v.must(201, "POST", apps, typeJSON, `{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},"spec":{`+template+`}}}}`)
	v.must(201, "POST", pods, typeJSON, `{"metadata":{"name":"a"},"spec":{`+template+`}}`)
	v.must(201, "POST", nodes, typeJSON, `{"metadata":{"name":"a"}}`)
	for _, path := range []string{apps + "/a/status", apps + "/a/scale", pods + "/a/status", nodes + "/a/status"} {
		v.want("main", "GET", path, "", "", 403)
		v.want("main", "PUT", path, typeJSON, `{}`, 403)
		v.want("main", "PATCH", path, typeMerge, `{}`, 403)
		v.want("below", "GET", path, "", "", 200)
		v.want("below", "PATCH", path, typeMerge, `{}`, 200)
	}
	for _, path := range []string{pods + "/a/binding", pods + "/a/eviction"} {
		v.want("main", "POST", path, typeJSON, `{"metadata":{"name":"a"},"target":{"name":"n"}}`, 403)
	}
	for _, path := range []string{apps, pods, nodes} {
		v.want("below", "GET", path, "", "", 403)
		v.want("below", "GET", path+"?watch=1", "", "", 403)
		v.want("below", "GET", path+"/a", "", "", 403)
		v.want("below", "PUT", path+"/a", typeJSON, `{}`, 403)
		v.want("below", "PATCH", path+"/a", typeMerge, `{}`, 403)
		v.want("below", "DELETE", path+"/a", "", "", 403)
		v.want("below", "DELETE", path, "", "", 403)
	}
	// A trailing slash does not change the required permissions.
	v.want("below", "GET", pods+"/a/", "", "", 403)
	v.want("main", "GET", pods+"/a/status/", "", "", 403)
	// Other spellings of the path do not address the subresource.
	for _, path := range []string{pods + "/a/status/x", pods + "/a/Status", pods + "/a/nothing", "/api/v1/watch/namespaces/default/pods/a/status"} {
		v.want("below", "GET", path, "", "", 403, 404)
		v.want("main", "GET", path, "", "", 403, 404)
	}

	// A write to a subresource does not change other fields.
	main := func(path string) string {
		text := v.must(200, "GET", path+"/a", "", "")
		return text[strings.Index(text, `"spec"`):strings.LastIndex(text, `,"status"`)]
	}
	for _, path := range []string{apps, pods} {
		before := main(path)
		v.want("below", "PATCH", path+"/a/status", typeMerge, `{"spec":{"replicas":7,"nodeName":"n","template":{"spec":{"hostNetwork":true}}},"status":{"message":"m","observedGeneration":1}}`, 200)
		v.want("below", "PATCH", path+"/a/status", typeStrategic, `{"spec":{"hostNetwork":true,"paused":true}}`, 200)
		v.want("below", "PATCH", path+"/a/status", typeJSONPatch, `[{"op":"add","path":"/spec/paused","value":true}]`, 200, 422)
		if after := main(path); after != before {
			t.Errorf("the status of %s changes its spec:\n%s\n%s", path, before, after)
		}
	}
	v.want("main", "PATCH", pods+"/a", typeMerge, `{"status":{"phase":"Failed","podIP":"1.2.3.4"}}`, 200)
	if text := v.must(200, "GET", pods+"/a", "", ""); strings.Contains(text, "1.2.3.4") || strings.Contains(text, "Failed") {
		t.Errorf("a Pod's spec writes its status: %s", text)
	}

	// Writes to a subresource are validated too.
	v.want("below", "PATCH", apps+"/a/scale", typeMerge, `{"spec":{"replicas":-1}}`, 422)
	v.want("below", "PATCH", apps+"/a/status", typeMerge, `{"status":{"replicas":-1}}`, 422)
	v.want("below", "PATCH", nodes+"/a/status", typeMerge, `{"status":{"capacity":{"cpu":"much"}}}`, 400, 422)
	v.want("below", "PATCH", pods+"/a/status", typeMerge, `{"metadata":{"labels":{"a b":"c"}},"status":{"phase":7}}`, 400, 422)

	// Writes to a subresource do not create objects.
	for path, kind := range map[string]string{apps: `"apps/v1","kind":"Deployment"`, pods: `"v1","kind":"Pod"`, nodes: `"v1","kind":"Node"`} {
		body := `{"apiVersion":` + kind + `,"metadata":{"name":"none"}}`
		v.want("below", "PATCH", path+"/none/status?fieldManager=b&force=true", typeApply, body, 404)
		v.want("below", "PUT", path+"/none/status", typeJSON, body, 404, 422)
		v.want("below", "POST", path+"/none/status", typeJSON, body, 405)
		v.must(404, "GET", path+"/none", "", "")
	}
}
