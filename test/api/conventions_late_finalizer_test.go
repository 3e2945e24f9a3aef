package api

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestLateFinalizers: an object that is being deleted gets no new finalizer, by no resource and no verb
// that reaches them; and loses its last one by each of them.
func TestLateFinalizers(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	const apply = "application/apply-patch+yaml"
	for _, k := range []struct{ collection, kind, spec, sub string }{
		{"/apis/apps/v1/namespaces/default/deployments", `"apiVersion":"apps/v1","kind":"Deployment"`,
			`,"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`, "/status"},
		{"/api/v1/namespaces/default/services", `"apiVersion":"v1","kind":"Service"`, `,"spec":{"ports":[{"port":80}]}`, "/status"},
		{"/api/v1/nodes", `"apiVersion":"v1","kind":"Node"`, ``, "/status"},
		{"/api/v1/namespaces/default/configmaps", `"apiVersion":"v1","kind":"ConfigMap"`, ``, ""},
	} {
		path := k.collection + "/late"
		metadata := func(finalizers string) string { return `"metadata":{"name":"late","finalizers":[` + finalizers + `]}` }
		for verb, send := range map[string]func(code int, finalizers string) client.Answer{
			"update": func(code int, finalizers string) client.Answer {
				return s.Send(code, "PUT", path+k.sub, client.JSON, `{`+k.kind+`,`+metadata(finalizers)+k.spec+`}`)
			},
			"patch": func(code int, finalizers string) client.Answer {
				return s.Send(code, "PATCH", path+k.sub, client.MergePatch, `{`+metadata(finalizers)+`}`)
			},
			"apply": func(code int, finalizers string) client.Answer {
				return s.Send(code, "PATCH", path+k.sub+"?fieldManager=first&force=true", apply, `{`+k.kind+`,`+metadata(finalizers)+`}`)
			},
		} {
			s.Send(201, "PATCH", path+"?fieldManager=first", apply, `{`+k.kind+`,`+metadata(`"a.example/a"`)+k.spec+`}`)
			if verb == "apply" && k.sub != "" { // who applies to the sub-resource is another manager
				s.Send(200, "PATCH", path+k.sub+"?fieldManager=first", apply, `{`+k.kind+`,`+metadata(`"a.example/a"`)+`}`)
			}
			s.Send(200, "DELETE", path, "", "")
			refused := send(422, `"a.example/a","b.example/b"`)
			if !strings.Contains(string(refused.Body), "no new finalizers can be added if the object is being deleted") {
				t.Errorf("%s of %s: %s", verb, path+k.sub, refused.Body)
			}
			s.Send(200, "GET", path, "", "")
			taken := s.Send(409, "POST", k.collection, client.JSON, `{`+k.kind+`,`+metadata(``)+k.spec+`}`)
			if message, _ := taken.Object()["message"].(string); !strings.HasPrefix(message, "object is being deleted: ") {
				t.Errorf("create of %s: %s", path, message)
			}
			s.Send(200, "PATCH", path+k.sub, client.MergePatch, `{"metadata":{"finalizers":null}}`)
			s.Send(404, "GET", path, "", "")
		}
	}
}
