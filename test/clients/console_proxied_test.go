//go:build chromium

package clients

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

// thief is a page that tries to read the console's session storage.
const thief = `<!DOCTYPE html><body><script>
let found
try { found = "found " + JSON.stringify(Object.values(sessionStorage)) } catch (e) { found = "denied: " + e.name }
document.body.textContent = found
</script>`

// TestProxiedPages checks that the Content-Security-Policy header keeps pages proxied from a Pod
// from reading the console's token. Without the header, they can read it.
func TestProxiedPages(t *testing.T) {
	s := openSite(t, meta.Kubernetes)
	host := client.OwnAddress(t) // loopback addresses are not proxied
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, thief)
	})}
	go pod.Serve(listener)
	t.Cleanup(func() { pod.Close() })
	const pods = "/api/v1/namespaces/default/pods"
	s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"thief"},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]}}`)
	s.Send(200, "PATCH", pods+"/thief/status", client.MergePatch, fmt.Sprintf(`{"status":{"phase":"Running","podIP":%[1]q,"podIPs":[{"ip":%[1]q}]}}`, host))
	const rights = "/apis/rbac.authorization.k8s.io/v1/"
	s.Send(201, "POST", rights+"clusterroles", client.JSON, `{"metadata":{"name":"visitor"},"rules":[{"apiGroups":[""],"resources":["pods/proxy"],"verbs":["get"]}]}`)
	s.Send(201, "POST", rights+"clusterrolebindings", client.JSON, `{"metadata":{"name":"visitor"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"visitor"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:anonymous"}]}`)
	page := fmt.Sprintf("%s/http:thief:%d/proxy/", pods, listener.Addr().(*net.TCPAddr).Port)
	client.Eventually(t, func() error {
		if answer, err := s.WithoutCertificate(t).Get(s.Ctx, page); err != nil || answer.Code != 200 {
			return fmt.Errorf("%v %v", answer, err)
		}
		return nil
	})

	server, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		policy bool
		want   string
	}{{true, "denied: SecurityError"}, {false, `found ["` + adminToken + `"]`}} {
		front := httptest.NewTLSServer(&httputil.ReverseProxy{
			Transport: client.Transport(t, s.Anonymous()),
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server) },
			ModifyResponse: func(r *http.Response) error {
				if !test.policy && r.Request.URL.Path == page {
					r.Header.Del("Content-Security-Policy")
				}
				return nil
			},
		})
		t.Cleanup(front.Close)
		b := openBrowser(t, strings.TrimPrefix(front.URL, "https://"))
		b.excuse("selfsubjectreviews")
		b.excuse("favicon.ico")
		b.open(front.URL + "/console/")
		b.see("Sign in to Troupe")
		b.fill("Token", adminToken)
		b.click("Sign in")
		b.see("What the server does")
		b.open(front.URL + page)
		b.see(test.want)
	}
}
