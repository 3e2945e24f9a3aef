package policy

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client/pki"
)

// TestSmuggling checks that the server rejects a request of ambiguous length, and does not parse
// the following bytes as another request.
func TestSmuggling(t *testing.T) {
	v := start(t)
	const smuggled = "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 33\r\n\r\n" +
		`{"metadata":{"name":"smuggled"}} `
	post := "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for name, request := range map[string]string{
		"two lengths":              post + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
		"the same length twice":    post + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
		"length and encoding":      post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"encoding and length":      post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"two encodings":            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"identity":                 post + "Transfer-Encoding: identity\r\n\r\n",
		"identity and length":      post + "Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n",
		"chunked, then identity":   post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"chunk without an end":     post + "Transfer-Encoding: chunked\r\n\r\n1\r\na0\r\n\r\n",
		"chunk with bare LF":       post + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
		"huge chunk":               post + "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n\r\n",
		"CR in an extension":       post + "Transfer-Encoding: chunked\r\n\r\n0;a\rb\r\n\r\n",
		"unknown encoding":         post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"space before colon":       post + "Content-Length : 5\r\n\r\n",
		"folded encoding":          post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"negative length":          post + "Content-Length: -1\r\n\r\n",
		"signed length":            post + "Content-Length: +5\r\n\r\n",
		"hexadecimal length":       post + "Content-Length: 0x5\r\n\r\n",
		"list of lengths":          post + "Content-Length: 5, 6\r\n\r\n",
		"huge length":              post + "Content-Length: 99999999999999999999\r\n\r\n",
		"bare CR":                  post + "X: a\rContent-Length: 5\r\n\r\n",
		"bare LF":                  post + "X: a\nContent-Length: 0\r\n\r\n",
		"LF behind the first line": strings.Replace(post, "1.1\r\n", "1.1\n", 1) + "Content-Length: 0\r\n\r\n",
		"NUL":                      post + "X: a\x00b\r\nContent-Length: 0\r\n\r\n",
		"bad chunk size":           post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
		"negative chunk size":      post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
		"a host of two":            "GET /version HTTP/1.1\r\nHost: x/y\r\n\r\n",
		"a host with a space":      "GET /version HTTP/1.1\r\nHost: x y\r\n\r\n",
		"a host without an end":    "GET /version HTTP/1.1\r\nHost: [::1\r\n\r\n",
		"two hosts":                "GET /version HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"another host":             "GET https://y/version HTTP/1.1\r\nHost: x\r\n\r\n",
		"lower-case method":        "get /version HTTP/1.1\r\nHost: x\r\n\r\n",
		"a protocol of the future": "GET /version HTTP/1.7\r\nHost: x\r\n\r\n",
		"fragment":                 "GET /version#x HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			v := &testServer{t: t, dir: v.dir, d: v.d}
			got := v.raw(v.admin(), request+smuggled)
			if got.code != 400 && got.code != 413 && got.code != 501 || !got.closed {
				t.Errorf("%d, closed %v, want 400 and close: %.200s", got.code, got.closed, got.body)
			}
		})
	}
	v.must(404, "GET", configMaps+"/smuggled", "", "")
	if got := v.raw(v.admin(), smuggled); got.code != 201 {
		t.Errorf("the smuggled request itself: %d %s", got.code, got.body)
	}
}

// behindProxy starts a daemon and returns the TLS configuration of an authenticating proxy for it.
func behindProxy(t *testing.T) (*testServer, *tls.Config) {
	t.Helper()
	proxies := pki.Authority(t, "proxies")
	v := start(t, func(c *daemon.Config) {
		c.Authentication.RequestHeader = daemon.RequestHeader{
			ClientCAFile: certificateFile(t, proxies.Leaf), UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		}
	})
	proxy := v.anonymous()
	proxy.Certificates = []tls.Certificate{pki.Client(t, proxies, "front")}
	return v, proxy
}

// TestOrderOfHeaders checks that the server uses the proxy's first X-Remote-User header and all its
// X-Remote-Group headers in order, regardless of other headers.
func TestOrderOfHeaders(t *testing.T) {
	v, proxy := behindProxy(t)
	const path = "/apis/authentication.platform.io/v1/selfsubjectreviews"
	const identity = "X-Remote-User: joe\r\nX-Remote-Group: one\r\nX-Remote-Group: two\r\nX-Remote-Group: three\r\nX-Remote-User: admin\r\n"
	for _, headers := range []string{
		identity, "Authorization: Basic x\r\n" + identity, identity + "Authorization: Basic x\r\n",
		"Authorization: Digest x\r\nX-Remote-User: joe\r\nX-Remote-Group: one\r\nAuthorisation: x\r\nX-Remote-Group: two\r\nX-Remote-Group: three\r\n",
	} {
		got := v.raw(proxy, "POST "+path+" HTTP/1.1\r\n"+headers+"Host: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
		if got.code != 201 || !strings.Contains(got.body, `"username":"joe"`) || !strings.Contains(got.body, `"groups":["one","two","three","system:authenticated"]`) {
			t.Errorf("%q: %d %s", headers, got.code, got.body)
		}
	}
}

// TestTrailers checks that trailers are not treated as headers.
func TestTrailers(t *testing.T) {
	v, proxy := behindProxy(t)
	body := configMap("trailed")
	send := func(config *tls.Config, headers, trailers string) securityAnswer {
		return v.raw(config, "POST "+configMaps+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"+
			headers+"\r\n"+fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(body), body)+trailers+"\r\n")
	}
	const joe = "X-Remote-User: joe\r\nX-Remote-Group: devs\r\n"
	if got := send(proxy, joe, ""); got.code != 403 {
		t.Errorf("joe: %d %s", got.code, got.body)
	}
	for _, trailer := range []string{
		"X-Remote-Group: system:masters\r\n", "x-remote-group:system:masters\r\n", "X-Remote-User: admin\r\n", "Audit-Id: x\r\n",
		"Impersonate-User: admin\r\n", "Accept: */*\r\n", "User-Agent: x\r\n", "X-A: b\r\n", "Transfer-Encoding: chunked\r\n",
		"Authorization: Bearer " + token + "\r\n", "Content-Length: 5\r\n", "Host: y\r\n", "Connection: close\r\n", "X-A: b\r\n c\r\n",
	} {
		for _, headers := range []string{"", "Trailer: X-A\r\n", "Trailer: X-Remote-Group\r\n", "User-Agent: y\r\nAccept: a\r\nAccept: b\r\n"} {
			if got := send(proxy, joe+headers, trailer); got.code != 403 || !got.closed { // rejected before the body is read
				t.Errorf("%q behind the body, with %q: %d, closed %v: %s", trailer, headers, got.code, got.closed, got.body)
			}
		}
		if got := send(v.admin(), "", trailer); got.code != 400 || !got.closed {
			t.Errorf("%q behind the body: %d, closed %v: %s", trailer, got.code, got.closed, got.body)
		}
	}
	v.must(404, "GET", configMaps+"/trailed", "", "")
	if got := send(v.admin(), "Trailer: X-A\r\nCookie: a=b\r\nCookie: c=d\r\nX-A: b\r\nX-A: c\r\nUser-Agent: y\r\n", ""); got.code != 201 {
		t.Errorf("without: %d %s", got.code, got.body)
	}
}

// TestTargets checks that unusual paths do not bypass authorization or hide the requested path.
func TestTargets(t *testing.T) {
	v := start(t)
	for _, path := range []string{
		"/livez/../api/v1/secrets", "/livez/..%2fapi/v1/secrets", "/livez/%2e%2e/api/v1/secrets", "/livez/%252e%252e/api/v1/secrets",
		"//api/v1/secrets", "/api//v1/secrets", "/api/v1//secrets", "/api/v1/secrets//", "/./api/v1/secrets", "/api/v1/./secrets",
		"/api%2fv1%2fsecrets", "/api/v1/secrets%00", "/api/v1/secrets%0a", "/livez%2f..%2fapi/v1/secrets", "/api/v1/%2e/secrets",
		"/api/v1/secrets%", "/api/v1/secrets%zz", "/livez;/api/v1/secrets", "/API/v1/secrets", "/api/v1/Secrets", "/api/v1/secrets%20",
		"/livez/..;/api/v1/secrets", `/livez/..\api\v1\secrets`, "/api/v1/namespaces/default/%2e%2e/kube-system/secrets",
		"/api/v1/namespaces/default/namespaces/default", "/api/v1/namespaces/default/namespaces", "/api/v1/namespaces/default/nodes",
	} {
		got := v.raw(v.anonymous(), "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if got.code != 400 && got.code != 404 && got.code != 403 || strings.Contains(got.body, "SecretList") {
			t.Errorf("%s anonymously: %d %.200s", path, got.code, got.body)
		}
		if got := v.raw(v.admin(), "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); got.code != 400 && got.code != 404 {
			t.Errorf("%s as the administrator: %d %.200s, want 400 or 404", path, got.code, got.body)
		}
	}
}
