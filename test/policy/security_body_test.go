package policy

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestAnnouncedBodies checks that a large Content-Length allocates no memory, and a partial body
// only for the bytes received. Other requests are served meanwhile.
func TestAnnouncedBodies(t *testing.T) {
	v := start(t)
	const crowd = 300
	head := "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n"
	for name, test := range map[string]struct{ credential, begun string }{
		"strangers":     {"", ""},
		"somebody":      {"Authorization: Bearer " + token + "\r\n", "{"},
		"administrator": {"admin", strings.Repeat(" ", 5000)},
	} {
		config := v.nobody()
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

// TestBodyBudget checks that incomplete bodies stay within their shared memory limit. The next
// large body gets status code 429, and is accepted after the others are gone.
func TestBodyBudget(t *testing.T) {
	v := start(t, createUsers(t, "writer"), func(c *daemon.Config) {
		c.Serving.MaxBodyBytes, c.Serving.MaxBodiesBytes = 1<<20, 1<<20
	})
	v.grant("writer", "writer", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"]}`)
	body := `{"metadata":{"name":"large"},"data":{"a":"` + strings.Repeat("x", 900_000) + `"}}`
	slow := v.dial(v.nobody())
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		configMaps, credential("writer"), len(body))
	if _, err := io.WriteString(slow, head+body[:600_000]); err != nil {
		t.Fatal(err)
	}
	// Memory may be used or freed with a delay.
	v.eventually("a refusal", func() bool {
		got := v.raw(v.nobody(), head+body)
		if got.code == 201 {
			v.want("writer", "DELETE", configMaps+"/large", "", "", 200)
		}
		return got.code == 429 && got.header.Get("Retry-After") != ""
	})
	v.want("writer", "POST", configMaps, typeJSON, configMap("small"), 429, 201)
	v.must(200, "GET", "/api/v1/namespaces/default", "", "")
	if err := slow.Close(); err != nil {
		t.Fatal(err)
	}
	v.eventually("room", func() bool { return v.raw(v.nobody(), head+body).code == 201 })
}

func (v *testServer) eventually(what string, so func() bool) {
	v.t.Helper()
	client.Eventually(v.t, func() error {
		if !so() {
			return fmt.Errorf("there is no %s", what)
		}
		return nil
	})
}
