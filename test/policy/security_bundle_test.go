package policy

import (
	"testing"

	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/test/client"
)

// TestStoredBundles checks that an object stored before CA bundles were validated can be changed
// and deleted, even if its bundle is invalid. New bundles in it are validated.
func TestStoredBundles(t *testing.T) {
	dir := t.TempDir()
	serve := func() *client.Server { return client.Serve(t, dir, nil) }
	serve().Stop(t)
	hook := func(name, bundle string) string {
		return `{"name":"` + name + `.b.c","clientConfig":{"url":"https://h.example","caBundle":"` + bundle + `"},"sideEffects":"None","admissionReviewVersions":["v1"]}`
	}
	const meta = `"metadata":{"name":"old","uid":"u","finalizers":["a.example/b"],"resourceVersion":""}`
	appendToJournal(t, dir, persist.Write{Key: "admissionregistration.platform.io/validatingwebhookconfigurations//old",
		Value: []byte(`{"kind":"ValidatingWebhookConfiguration","apiVersion":"admissionregistration.platform.io/v1",` + meta + `,"webhooks":[` + hook("a", "AA==") + `]}`)},
		persist.Write{Key: "apiregistration.platform.io/apiservices//v1.a.example",
			Value: []byte(`{"kind":"APIService","apiVersion":"apiregistration.platform.io/v1","metadata":{"name":"v1.a.example","uid":"u","resourceVersion":""},"spec":{"group":"a.example","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"s","namespace":"n"},"caBundle":"AA=="}}`)})
	s := client.Session{Server: serve(), Ctx: t.Context(), T: t}
	const hooks, services = "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations", "/apis/apiregistration.platform.io/v1/apiservices"
	for _, path := range []string{hooks + "/old", services + "/v1.a.example"} {
		s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
	}
	s.Send(200, "PATCH", hooks+"/old", client.MergePatch, `{"webhooks":[`+hook("x", "")+`,`+hook("a", "AA==")+`]}`)
	s.Send(422, "PATCH", hooks+"/old", client.MergePatch, `{"webhooks":[`+hook("a", "AA==")+`,`+hook("x", "AAA=")+`]}`)
	s.Send(422, "PATCH", services+"/v1.a.example", client.MergePatch, `{"spec":{"caBundle":"AAA="}}`)
	s.Send(422, "POST", hooks, client.JSON, `{"metadata":{"name":"new"},"webhooks":[`+hook("a", "AA==")+`]}`)
	s.Send(201, "POST", hooks, client.JSON, `{"metadata":{"name":"blank"},"webhooks":[`+hook("a", "Cg==")+`]}`)
	s.Send(200, "DELETE", hooks+"/old", "", "")
	s.Send(200, "PATCH", hooks+"/old", client.MergePatch, `{"metadata":{"finalizers":null}}`)
	s.Send(404, "GET", hooks+"/old", "", "")
}
