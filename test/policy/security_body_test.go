package policy

import (
	"io"
	"strings"
	"sync"
	"testing"
)

// TestAnnouncedBodies checks that memory is allocated for the received bytes of a body, not for its
// Content-Length. Other requests are not delayed.
func TestAnnouncedBodies(t *testing.T) {
	v := start(t)
	const crowd = 300
	head := "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n"
	for name, test := range map[string]struct{ credential, begun string }{
		"strangers":     {"", ""},
		"somebody":      {"Authorization: Bearer " + token + "\r\n", "{"},
		"administrator": {"admin", strings.Repeat(" ", 5000)},
	} {
		config := v.anonymous()
		if test.credential == "admin" {
			config, test.credential = v.admin(), ""
		}
		bytes := allocated(func() {
			var wait sync.WaitGroup
			for range 10 {
				wait.Go(func() {
					for range crowd / 10 {
						conn := v.dial(config)
						t.Cleanup(func() { _ = conn.Close() })
						if _, err := io.WriteString(conn, head+test.credential+"\r\n"+test.begun); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			v.must(200, "GET", "/api/v1/namespaces/default", "", "")
			v.must(201, "POST", configMaps, typeJSON, `{"metadata":{"generateName":"a-"}}`)
		})
		t.Logf("%s: %d MiB", name, bytes>>20)
		if bytes > crowd<<20 {
			t.Errorf("%s: %d announced bodies have taken %d MiB", name, crowd, bytes>>20)
		}
	}
}

// TestReviewBodies checks that reviews, which are not stored, have a lower body size limit. Bodies
// from unauthenticated clients are not read.
func TestReviewBodies(t *testing.T) {
	v := start(t)
	const limit = 64 << 10
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	for path, body := range map[string]string{
		"/apis/authorization.platform.io/v1/selfsubjectaccessreviews":                     `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`,
		"/apis/authorization.platform.io/v1/subjectaccessreviews":                         `{"spec":{"user":"u","nonResourceAttributes":{"path":"/","verb":"get"}}}`,
		"/apis/authorization.platform.io/v1/namespaces/default/localsubjectaccessreviews": `{"metadata":{"namespace":"default"},"spec":{"user":"u","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}}`,
		"/apis/authorization.platform.io/v1/selfsubjectrulesreviews":                      `{"spec":{"namespace":"default"}}`,
		"/apis/authentication.platform.io/v1/selfsubjectreviews":                          `{}`,
		"/apis/authentication.platform.io/v1/tokenreviews":                                `{"spec":{"token":"t"}}`,
	} {
		v.must(201, "POST", path, typeJSON, padded(body, limit))
		if text := v.must(413, "POST", path, typeJSON, padded(body, limit+1)); !strings.Contains(text, "limit is 65536") {
			t.Errorf("%s: %s", path, text)
		}
		// The server responds before the client has sent the body.
		head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
		if got := v.raw(v.anonymous(), head); got.code != 403 || !got.closed {
			t.Errorf("%s without credentials: %d, closed: %t", path, got.code, got.closed)
		}
	}
	v.must(201, "POST", configMaps, typeJSON, padded(configMap("large"), limit+1))
}
