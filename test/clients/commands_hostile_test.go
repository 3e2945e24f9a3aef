package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/troupe-api/troupe/test/client"
)

// evil contains escape sequences, some with C1 control characters, that set a terminal's title and
// clear the screen.
const evil = "a\x1b]0;owned\x07\x1b[2Jb\u009b2Jc\rd\x08\x7f"

// TestHostileServer checks that output contains no control characters from the server, that
// redirects are not followed, and that truncated responses are rejected.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "kubernetes")
	object := func(kind string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": kind, "data": map[string]any{evil: evil}, "metadata": map[string]any{
			"name": evil, "namespace": evil, "uid": "u", "labels": map[string]any{evil: evil}, "annotations": map[string]any{evil: evil}}}
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("request %s to another server with %v", r.URL, r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	server := p.front("hostile", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := func(code int, o any) {
			w.Header().Set("Content-Type", client.JSON)
			w.Header().Add("Warning", `299 - "`+"warned \u009b2J"+`"`)
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(o)
		}
		refused := map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": evil, "code": 403, "message": evil,
			"details": map[string]any{"name": evil, "kind": evil, "causes": []any{map[string]any{"reason": evil, "message": evil, "field": evil}}}}
		switch strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/default/") {
		case "configmaps":
			if r.Method == http.MethodPost {
				answer(201, object("ConfigMap"))
				return
			}
			answer(200, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "columnDefinitions": []any{map[string]any{"name": evil, "type": "string"}},
				"rows": []any{map[string]any{"cells": []any{evil}, "object": object("PartialObjectMetadata")}}})
		case "configmaps/one":
			if r.Method == http.MethodGet {
				answer(200, object("ConfigMap"))
				return
			}
			answer(403, refused)
		case "configmaps/refused":
			answer(403, refused)
		case "services", "services/one":
			http.Redirect(w, r, elsewhere.URL+"/api/v1/services", http.StatusTemporaryRedirect)
		case "secrets":
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"SecretList","items":[`))
		case "pods":
			_, _ = w.Write([]byte(strings.Repeat("[", 1<<20)))
		default:
			next.ServeHTTP(w, r)
		}
	})
	for _, c := range []struct {
		code    int
		says    string
		command string
	}{
		{0, "a^[]0;owned", "get configmaps"},
		{0, "owned", "get configmaps -A=false --show-labels -L " + "x"},
		{0, "owned", "get configmap one -o name"},
		{0, "owned", "get configmap one -o custom-columns=A:.metadata.name"},
		{0, `a\e]0;owned`, "get configmap one -o yaml"},
		{0, "Name:", "describe configmap one"},
		{0, "created", "create configmap one"},
		{1, "owned", "get configmap refused"},
		{1, "owned", "delete configmap refused"},
		{1, "control character", "annotate configmap one a=b"},
		{1, "owned", "apply -f " + p.write("one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused}\n")},
		{1, "status 307", "get services"},
		{1, "status 307", "delete service one"},
		{1, "unexpected EOF", "get secrets -o name"},
		{1, "max depth", "get pods"},
	} {
		out, code := p.run(append(strings.Fields(c.command), "--kubeconfig", server)...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("troupe %s: exit code %d, want %d, and %q in\n%q", c.command, code, c.code, c.says, out)
		}
		if at := strings.IndexFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
			t.Errorf("troupe %s: a control character in %q", c.command, out[max(at-60, 0):min(at+60, len(out))])
		}
	}
}

// front starts a proxy for the server and returns the path of its kubeconfig. The proxy passes each
// request to handle, which can forward it with next.
func (p *place) front(name string, handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	p.T.Helper()
	target, err := url.Parse(p.URL)
	if err != nil {
		p.T.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{TLSClientConfig: p.TLS}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, proxy) }))
	p.T.Cleanup(s.Close)
	return p.write(name, fmt.Sprintf(`clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`, s.URL))
}
