package extension

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// request sends a request as the administrator. headers contains alternating names and values.
func (s aggregationSession) request(method, path string, headers ...string) *http.Response {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.Ctx, method, s.URL+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
	}
	transport := &http.Transport{TLSClientConfig: s.TLS, DisableCompression: true}
	s.T.Cleanup(transport.CloseIdleConnections)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (s aggregationSession) body(resp *http.Response) string {
	s.T.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(text)
}

// TestRequestIsPassedOn checks that the path, query, user and response are forwarded over a
// connection with a trusted client certificate. The client's credentials and identity headers are
// dropped.
func TestRequestIsPassedOn(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), func(c *daemon.Config) {
		c.Authentication.RequestHeader.UsernameHeaders = []string{"X-Proxied-User"}
		c.Authentication.RequestHeader.ClientCAFile = writePEM(t, pki.PEM(pki.Authority(t, "proxies").Leaf))
	})
	s.register(b, "ext.example.com", "v1")
	resp := s.request("GET", "/apis/ext.example.com/v1/namespaces/n/things?labelSelector=a%3Db&limit=5;x",
		"X-Remote-User", "mallory", "x-remote-group", "system:masters", "X-Remote-Extra-Scopes", "all", "X_Remote_User", "mallory",
		"X-Proxied-User", "mallory", "X-Remote-Uid", "1", "X-Other", "stays", "X-Remote-Group", "system:masters")
	if got := s.body(resp); resp.StatusCode != 200 || got != `{"kind":"Thing","path":"/apis/ext.example.com/v1/namespaces/n/things?labelSelector=a%3Db&limit=5%3Bx"}` {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
	r := b.last("/apis/ext.example.com/v1/namespaces")
	if got := r.Header.Values("X-Remote-User"); !slices.Equal(got, []string{"platform-admin"}) {
		t.Errorf("the user is %q", got)
	}
	if got := r.Header.Values("X-Remote-Group"); !slices.Equal(got, []string{"system:masters", "system:authenticated"}) {
		t.Errorf("the groups are %q", got)
	}
	for name := range r.Header {
		if l := strings.ToLower(name); l == "x-proxied-user" || l == "x_remote_user" || l == "authorization" || l == "x-remote-uid" || l == "x-remote-extra-scopes" {
			t.Errorf("%s: %q is passed on", name, r.Header[name])
		}
	}
	if r.Header.Get("X-Other") != "stays" || r.Header.Get("Audit-Id") == "" || r.Header.Get("Audit-Id") != resp.Header.Get("Audit-Id") {
		t.Errorf("the headers are %v", r.Header)
	}
	if certs := r.TLS.PeerCertificates; len(certs) != 1 || certs[0].Subject.CommonName != "front-proxy-client" {
		t.Errorf("the client certificates are %v", certs)
	}
}

// TestIdentity checks that the user's UID, groups and extra values are forwarded, but not the
// token. The backend sees only the impersonated user of an impersonated request.
func TestIdentity(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts", client.JSON, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"reader"}}`)
	s.Send(201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterroles", client.JSON,
		`{"apiVersion":"rbac.authorization.platform.io/v1","kind":"ClusterRole","metadata":{"name":"things"},"rules":[{"apiGroups":["ext.example.com"],"resources":["things"],"verbs":["list"]}]}`)
	const things = "/apis/ext.example.com/v1/namespaces/default/things"
	token, _ := s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts/reader/token", client.JSON,
		`{"apiVersion":"authentication.platform.io/v1","kind":"TokenRequest","spec":{}}`).Object()["status"].(map[string]any)["token"].(string)
	anonymous := s.TLS
	s.TLS = s.TLS.Clone()
	s.TLS.Certificates = nil
	if resp := s.request("GET", things, "Authorization", "Bearer "+token); resp.StatusCode != 403 {
		t.Errorf("without the right: %d", resp.StatusCode)
	}
	if b.last(things) != nil {
		t.Error("a forbidden request is passed on")
	}
	s.Send(201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", client.JSON,
		`{"apiVersion":"rbac.authorization.platform.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"things"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"things"},"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"reader"}]}`)
	if resp := s.request("GET", things, "Authorization", "Bearer "+token); resp.StatusCode != 200 {
		t.Errorf("with the right: %d", resp.StatusCode)
	}
	h := b.last(things).Header
	if h.Get("X-Remote-User") != "system:serviceaccount:default:reader" || h.Get("X-Remote-Uid") == "" || h.Get("Authorization") != "" ||
		!slices.Contains(h["X-Remote-Group"], "system:serviceaccounts") || h.Get("X-Remote-Extra-Authentication.platform.io%2Fcredential-Id") == "" {
		t.Errorf("the headers are %v", h)
	}
	s.TLS = anonymous
	if resp := s.request("GET", things, "Impersonate-User", "jane", "Impersonate-Group", "system:masters", "Impersonate-Extra-Scopes", "a", "Impersonate-Extra-Scopes", "b"); resp.StatusCode != 200 {
		t.Errorf("impersonated: %d", resp.StatusCode)
	}
	h = b.last(things).Header
	if h.Get("X-Remote-User") != "jane" || !slices.Equal(h["X-Remote-Extra-Scopes"], []string{"a", "b"}) || h.Get("Impersonate-User") != "" || h.Get("X-Remote-Uid") != "" {
		t.Errorf("the headers are %v", h)
	}
}

// TestAggregationAnswers checks that responses, including errors and compressed content, are
// forwarded unchanged. By default, redirects are rejected with status code 502.
func TestAggregationAnswers(t *testing.T) {
	t.Parallel()
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/things/packed"):
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte("unpacked"))
			_ = z.Close()
		case strings.HasSuffix(r.URL.Path, "/things/gone"):
			w.Header().Set("Warning", `299 - "going"`)
			http.Error(w, "gone", http.StatusGone)
		case strings.HasSuffix(r.URL.Path, "/things/elsewhere"):
			http.Redirect(w, r, "/apis/ext.example.com/v1/namespaces/n/things/secret", http.StatusFound)
		default:
			return false
		}
		return true
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	const things = "/apis/ext.example.com/v1/namespaces/n/things/"
	resp := s.request("GET", things+"packed", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(resp.Body)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, %v", err, resp.Header)
	}
	if text, err := io.ReadAll(z); string(text) != "unpacked" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	resp = s.request("GET", things+"gone")
	if text := s.body(resp); resp.StatusCode != 410 || text != "gone\n" || resp.Header.Get("Warning") != `299 - "going"` {
		t.Errorf("%d %q %v", resp.StatusCode, text, resp.Header)
	}
	resp = s.request("GET", things+"elsewhere")
	if text := s.body(resp); resp.StatusCode != 502 || resp.Header.Get("Location") != "" || !strings.Contains(text, "redirect") {
		t.Errorf("%d %q %v", resp.StatusCode, text, resp.Header)
	}
	if b.last(things+"secret") != nil {
		t.Error("the redirect is followed")
	}
}

// TestRedirectIsPassedOn checks that redirects are forwarded if RejectForwardingRedirects is false.
func TestRedirectIsPassedOn(t *testing.T) {
	t.Parallel()
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/things/x") {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return true
		}
		return false
	})
	s := openAggregation(t, b.address(), func(c *daemon.Config) { c.Aggregation.RejectForwardingRedirects = false })
	s.register(b, "ext.example.com", "v1")
	if resp := s.request("GET", "/apis/ext.example.com/v1/namespaces/n/things/x"); resp.StatusCode != 302 || resp.Header.Get("Location") != "/elsewhere" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}
