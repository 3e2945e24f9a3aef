package policy

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// withCertificate returns a copy of the cluster whose client always presents cert, even if the
// server does not accept its CA.
func (r *userCluster) withCertificate(cert tls.Certificate) *userCluster {
	config := r.Anonymous()
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	other := *r
	other.transport = client.Transport(r.t, config)
	return &other
}

// newProxy starts an authenticating proxy for the daemon. It checks passwords and presents cert to
// the daemon.
func newProxy(t *testing.T, r *userCluster, cert tls.Certificate) *httptest.Server {
	target, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{
		Transport: r.withCertificate(cert).transport,
		Rewrite: func(q *httputil.ProxyRequest) {
			q.SetURL(target)
			for _, header := range []string{"Authorization", "X-Remote-User", "X-Remote-Group", "X-Remote-Uid"} {
				q.Out.Header.Del(header)
			}
			if name, password, ok := q.In.BasicAuth(); ok && password == "open sesame" {
				q.Out.Header.Set("X-Remote-User", name)
				q.Out.Header.Set("X-Remote-Uid", "uid-of-"+name)
				q.Out.Header["x-remote-group"] = []string{"devs", "ops"}
				q.Out.Header.Set("X-Remote-Extra-Acme.com%2FProject", "p1")
			}
		},
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s
}

func TestProxy(t *testing.T) {
	t.Parallel()
	proxies, people := pki.Authority(t, "proxies"), pki.Authority(t, "people")
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		for name, a := range map[string]tls.Certificate{"proxies.crt": proxies, "people.crt": people} {
			client.WriteFile(t, filepath.Join(dir, name), pki.PEM(a.Leaf))
		}
		c.Authentication.ClientCAFile = filepath.Join(dir, "people.crt")
		c.Authentication.RequestHeader = daemon.RequestHeader{
			ClientCAFile: filepath.Join(dir, "proxies.crt"), AllowedNames: []string{"front"},
			UsernameHeaders: []string{"x-remote-user", "X-Other-User"}, UIDHeaders: []string{"X-Remote-Uid"},
			GroupHeaders: []string{"X-Remote-Group"}, ExtraPrefixes: []string{"X-Remote-Extra-"},
		}
	}, "rita=readers")
	r.grant("jane", "jane", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}`)
	front := newProxy(t, r, pki.Client(t, proxies, "front"))

	ask := func(user, password, method, path string) (code int, body string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), method, front.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("X-Remote-Group", "system:masters") // removed by the proxy
		q.SetBasicAuth(user, password)
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if code, body := ask("jane", "open sesame", "GET", configMaps); code != 200 {
		t.Errorf("jane through the proxy: %d %s", code, body)
	}
	if code, body := ask("joe", "open sesame", "GET", configMaps); code != 403 {
		t.Errorf("joe through the proxy: %d %s", code, body)
	}
	if code, body := ask("jane", "guess", "GET", configMaps); code != 401 { // the proxy's certificate authenticates no user
		t.Errorf("a wrong password: %d %s", code, body)
	}

	masters := []string{"X-Remote-User: eve", "X-Remote-Group: system:masters"}
	direct := r.withCertificate(pki.Client(t, proxies, "front"))
	// The client sends headers in byte order, so group b from X-Remote-Group precedes group a from
	// x-remote-group.
	direct.want("everything", direct.do("", "POST", selfReviewPath, "{}", "X-REMOTE-USER: jane", "x-remote-uid: u1", "x-remote-group: a", "X-Remote-Group: b",
		"X-Remote-Extra-Acme.com%2FProject: p1", "x-remote-extra-acme.com%2fproject: p2", "X-Remote-Extra-Scopes: dev"), 201,
		`"userInfo":{"username":"jane","uid":"u1","groups":["b","a","system:authenticated"],"extra":{"acme.com/project":["p1","p2"],"scopes":["dev"]}}`)
	direct.want("the other header", direct.do("", "POST", selfReviewPath, "{}", "X-Remote-User: ", "X-Other-User: joe"), 201, `"username":"joe"`)
	direct.want("no user", direct.do("", "GET", "/api/v1/secrets", "", "X-Remote-Group: system:masters"), 401)
	direct.want("no user but a token", direct.do("rita", "POST", selfReviewPath, "{}", "X-Remote-Group: system:masters"), 201, `"username":"rita","groups":["readers","system:authenticated"]`)
	direct.want("masters", direct.do("", "GET", "/api/v1/secrets", "", masters...), 200)

	back := r.withCertificate(pki.Client(t, proxies, "back"))
	back.want("a proxy of another name", back.do("", "GET", "/api/v1/secrets", "", masters...), 401)
	jane := r.withCertificate(pki.Client(t, people, "jane"))
	jane.want("an ordinary certificate", jane.do("", "POST", selfReviewPath, "{}", masters...), 201, `"username":"jane"`)
	jane.want("an ordinary certificate", jane.do("", "GET", "/api/v1/secrets", "", masters...), 403)
	named := r.withCertificate(pki.Client(t, people, "front"))
	named.want("an ordinary certificate of the name", named.do("", "GET", "/api/v1/secrets", "", masters...), 403, `User \"front\"`)
	stranger := r.withCertificate(pki.Client(t, pki.Authority(t, "proxies"), "front"))
	stranger.want("another CA of the name", stranger.do("", "GET", "/api/v1/secrets", "", masters...), 401)
	r.want("no certificate", r.do("", "GET", "/api/v1/secrets", "", masters...), 403, `User \"system:anonymous\"`)
	r.want("a token", r.do("rita", "GET", "/api/v1/secrets", "", masters...), 403, `User \"rita\"`)
}
