package http_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestRequestSmuggling(t *testing.T) {
	cases := []struct {
		name, request string
		code          int
	}{
		{"two lengths", "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		{"length and encoding", "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		{"encoding twice", "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"encoding identity", "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"header behind the body", "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-A: b\r\n\r\n", 400},
		{"header behind the body again", "POST %s HTTP/1.1\r\nHost: h\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-A: b\r\n\r\n", 400},
		{"header behind no body", "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n\r\n", 400},
		{"folded", "GET %s HTTP/1.1\r\nHost: h\r\nX-A: b\r\n c\r\n\r\n", 400},
		{"two hosts", "GET %s HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400},
		{"other host", "GET http://evil%s HTTP/1.1\r\nHost: h\r\n\r\n", 400},
		{"bare line feed", "GET %s HTTP/1.1\r\nHost: h\nX-A: b\r\n\r\n", 400},
		{"bare return", "GET %s HTTP/1.1\r\nHost: h\r\nX-A: b\rc\r\n\r\n", 400},
		{"NUL", "GET %s HTTP/1.1\r\nHost: h\r\nX-A: b\x00\r\n\r\n", 400},
		{"lower case", "get %s HTTP/1.1\r\nHost: h\r\n\r\n", 400},
		{"HTTP/1.2", "GET %s HTTP/1.2\r\nHost: h\r\n\r\n", 400},
		{"space in name", "GET %s HTTP/1.1\r\nHost : h\r\n\r\n", 400},
		{"many headers", "GET %s HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X-A: b\r\n", 100) + "\r\n", 400},
		{"large headers", "GET %s HTTP/1.1\r\nHost: h\r\nX-A: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431},
		{"two credentials", "GET %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n", 401},
	}
	f := serve(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &testServer{TB: t, url: f.url}
			code, closed := f.sendRaw(fmt.Sprintf(c.request, configMapsPath))
			if code != c.code || !closed {
				t.Errorf("code %d, closed %v", code, closed)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	f := serve(t, nil)
	for path, want := range map[string]int{
		"/livez/../api/v1/secrets":           400,
		"/livez/%2e%2e/api/v1/secrets":       400,
		"/livez/%252e%252e/api/v1/secrets":   400,
		"/livez/..%2fapi/v1/secrets":         400,
		"//api/v1/secrets":                   400,
		"/api//v1/secrets":                   400,
		"/api/v1/secrets%00":                 400,
		"/api/v1/secrets%zz":                 400,
		"/api/v1/./secrets":                  400,
		"/livez%2f":                          400,
		"/%6civez":                           404,
		"/api/v1/namespaces/x/secrets/a/b/c": 404,
		"/api/v1/%73ecrets":                  200,
	} {
		if code, _ := f.sendRaw("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n"); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code, _ := f.sendRaw("GET http://h/api/v1/secrets HTTP/1.1\r\nHost: h\r\n\r\n"); code != 200 {
		t.Errorf("absolute form: %d", code)
	}
}
