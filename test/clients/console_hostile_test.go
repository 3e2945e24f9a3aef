//go:build chromium

package clients

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

// TestHostileContents checks that the console shows object content as text. It must escape markup
// and run no scripts.
func TestHostileContents(t *testing.T) {
	const markup = `<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>`
	s := openSite(t, meta.Kubernetes)
	body := func(o any) string {
		text := client.Encode(t, o)
		return string(text)
	}
	made := s.Send(201, "POST", "/api/v1/namespaces/default/configmaps?fieldManager="+url.QueryEscape(`<img/src=x/onerror=window.hostile=1>`), client.JSON, body(map[string]any{
		"metadata": map[string]any{"name": "evil", "annotations": map[string]string{"note": markup}, "ownerReferences": []any{
			map[string]any{"apiVersion": "javascript:alert(1)/v1", "kind": markup, "name": `javascript:alert(1)//"><b>`, "uid": "x"}}},
		"data": map[string]string{"a": markup, "b": "javascript:alert(1)"},
	})).Object()
	s.Send(201, "POST", "/api/v1/namespaces/default/events", client.JSON, body(map[string]any{
		"metadata": map[string]any{"name": "evil.1"}, "reason": markup, "message": markup, "type": "Normal", "source": map[string]any{"component": markup},
		"involvedObject": map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "evil", "uid": made.UID()},
	}))
	s.Send(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", client.JSON, body(map[string]any{
		"metadata": map[string]any{"name": "evils.example.com"},
		"spec": map[string]any{"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "evils", "kind": "Evil"}, "versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": []any{map[string]any{"name": markup, "type": "string", "jsonPath": ".spec.a", "description": markup}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "description": markup, "properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "description": markup}}}}}},
		}}},
	}))
	s.Send(201, "POST", "/apis/example.com/v1/namespaces/default/evils", client.JSON, body(map[string]any{
		"apiVersion": "example.com/v1", "kind": "Evil", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"a": markup}}))

	s.excuse("404") // the owner does not exist
	s.excuse("400")
	s.signIn(adminToken)
	s.see("Requests by verb")
	harmless := func(page string) {
		t.Helper()
		got := s.text(`[window.hostile ? "a script ran" : "", ...[...document.querySelectorAll("img,script:not([src]),iframe,object,embed,b")].map(e => e.outerHTML),
			...[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href")).filter(h => !/^(#|\/console\/)/.test(h))].filter(x => x).join("|")`)
		if got != "" {
			t.Errorf("%s: %s", page, got)
		}
	}
	s.open(s.page("#/objects/-/configmaps/default/evil"))
	s.see("onerror")
	harmless("fields")
	for _, tab := range []string{"Events", "Relations", "Try a change"} {
		s.click(tab)
		if tab == "Events" {
			s.see("onerror")
		}
		harmless(tab)
	}
	s.open(s.page("#/objects/example.com/evils"))
	s.see("onerror")
	harmless("table")
	s.open(s.page("#/definitions"))
	s.see("evils.example.com")
	s.run("open them", chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
	s.see("onerror")
	harmless("definitions")
	for _, route := range []string{`#/objects/-/` + markup, `#/` + markup, `#/objects/-/configmaps/default/` + url.PathEscape(markup), "#/objects/javascript:alert(1)/x"} {
		s.open(s.page(route))
		s.see("Troupe")
		harmless(route)
	}
	s.open(s.page("#/access"))
	s.fill("User", markup)
	s.click("Show")
	s.see("secrets")
	harmless("access")
	if kept := s.text(`Object.keys(localStorage).join() + document.cookie + Object.keys(sessionStorage).join()`); kept != "token" {
		t.Errorf("the browser keeps %q: the token is for this tab only", kept)
	}
	if strings.Contains(s.text(`location.href`), adminToken) {
		t.Error("the token is in the address")
	}
}
