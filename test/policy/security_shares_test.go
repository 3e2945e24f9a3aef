package policy

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const sharedMaps = "/api/v1/namespaces/default/configmaps"

// begin sends a request on a new connection, which stays open until the test ends. It returns the
// response with an unread body, or nil if the connection was closed.
func (r *userCluster) begin(user, request string) *http.Response {
	r.t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(r.URL, "https://"), r.Anonymous())
	if err != nil {
		return nil
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(client.Watchdog))
	line, rest, _ := strings.Cut(request, "\r\n")
	if _, err := io.WriteString(c, line+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+credential(user)+"\r\n"+rest); err != nil {
		return nil
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil
	}
	return resp
}

// TestShares checks that a user who requests all of a limited resource gets only a share, and then
// an error with the limit's name. Other users and administrators are not affected.
func TestShares(t *testing.T) {
	const (
		watch = "GET " + sharedMaps + "?watch=1\r\n\r\n"
		list  = "GET " + sharedMaps + "?pretty=true\r\n\r\n"
		small = "GET " + sharedMaps + "/small\r\n\r\n"
	)
	for _, test := range []struct {
		name     string
		change   func(*daemon.Config)
		request  string // sent by the hostile user on new connections
		attempts int
		most     int    // maximum number of admitted requests
		cause    string // reason of the rejections
		other    string // request of another user
	}{
		{"watches", func(c *daemon.Config) { c.Serving.MaxWatches = 40 }, watch, 50, 20, "watches", watch},
		{"connections", func(c *daemon.Config) { c.Serving.MaxConnections = 60 }, watch, 80, 31, "connections", watch},
		{"responses", func(c *daemon.Config) { c.Serving.MaxResponseBytes = 4 << 20 }, list, 60, 20, "response-bytes", list},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := serveUsers(t, func(c *daemon.Config, _ string) {
				c.Authorization.Modes = []string{"AlwaysAllow"}
				test.change(c)
			}, "hostile", "other")
			r.must(sharedMaps, `{"metadata":{"name":"small"}}`)
			for n := range 12 {
				r.must(sharedMaps, fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"text":%q}}`, n, strings.Repeat("x", 1<<20)))
			}
			admitted, rejected := 0, 0
			for range test.attempts {
				resp := r.begin("hostile", test.request)
				switch {
				case resp != nil && resp.StatusCode == 200:
					admitted++
				case resp != nil && resp.StatusCode == 429:
					var status struct {
						Details struct {
							Causes []struct{ Reason, Message string }
						}
					}
					if err := json.NewDecoder(resp.Body).Decode(&status); err != nil {
						t.Fatal(err)
					}
					if c := status.Details.Causes; len(c) != 1 || c[0].Reason != test.cause || !strings.Contains(c[0].Message, `user "hostile" holds`) {
						t.Fatalf("%+v", c)
					}
					rejected++
				default:
					t.Fatalf("%v", resp)
				}
			}
			if admitted > test.most || admitted == 0 || rejected == 0 {
				t.Errorf("%d are admitted, %d are rejected", admitted, rejected)
			}
			if text := r.do("root", "GET", "/metrics", "").Body; !regexp.MustCompile(`troupe_limit_rejections_total\{resource="` + test.cause + `",reason="share"\} [1-9]`).Match(text) {
				t.Errorf("the metrics do not count rejections of %s", test.cause)
			}
			for _, user := range []string{"other", "root"} {
				if resp := r.begin(user, test.other); resp == nil || resp.StatusCode != 200 {
					t.Errorf("%s: %v", user, resp)
				}
				if resp := r.begin(user, small); resp == nil || resp.StatusCode != 200 {
					t.Errorf("%s: a small request: %v", user, resp)
				}
			}
		})
	}
}

// TestReclaimedWatches checks that a new user gets a watch even if others hold all of them. The
// server ends the oldest watch of the user with the most watches. With bookmarks enabled, it ends
// with a bookmark from which the client can resume.
func TestReclaimedWatches(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, _ string) {
		c.Authorization.Modes, c.Serving.MaxWatches = []string{"AlwaysAllow"}, 8
	}, "u0", "u1", "u2", "u3", "u4", "u5", "u6")
	version := r.must(sharedMaps, `{"metadata":{"name":"first"}}`).Version()
	from := func(version uint64) string { return fmt.Sprint(sharedMaps, "?watch=1&resourceVersion=", version) }
	const bookmarks = "&allowWatchBookmarks=true"
	metric := func(line string) {
		t.Helper()
		client.Eventually(t, func() error {
			if a := r.do("root", "GET", "/metrics", ""); !strings.Contains(string(a.Body), line+"\n") {
				return fmt.Errorf("the metrics lack %s", line)
			}
			return nil
		})
	}
	crowd := []*watcher{r.openWatch("oldest", "u0", from(version)), r.openWatch("second", "u0", from(version)+bookmarks)}
	for _, user := range []string{"u0", "u0", "u1", "u1", "u2", "u3"} {
		crowd = append(crowd, r.openWatch(user, user, from(version)))
	}
	for _, user := range []string{"u4", "u5"} {
		r.openWatch(user, user, from(version))
		metric(`apiserver_longrunning_requests{verb="WATCH"} 8`) // the reclaimed watch has ended
	}
	var e client.Event
	if err := crowd[0].decoder.Decode(&e); err != io.EOF {
		t.Errorf("the oldest watch: %v, %v", e, err)
	}
	second := crowd[1].decoder
	if err := second.Decode(&e); err != nil || e.Type != client.Bookmark || e.Object.Version() < version {
		t.Errorf("the second watch: %v, %v", e, err)
	}
	if err := second.Decode(&client.Event{}); err != io.EOF {
		t.Errorf("the second watch does not end: %v", err)
	}
	r.must(sharedMaps, `{"metadata":{"name":"next"}}`)
	for _, v := range append(crowd[2:], r.openWatch("resumed", "root", from(e.Object.Version()))) {
		v.expectEvent("next")
	}
	r.openWatch("u6", "u6", from(version))
	metric(`troupe_limit_rejections_total{resource="watches",reason="reclaimed"} 3`)
}

// TestReclaimedBodies checks that a small write is accepted even if incomplete bodies of many users
// occupy all body memory. The request with the largest body is rejected instead.
func TestReclaimedBodies(t *testing.T) {
	t.Parallel()
	users := []string{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"}
	r := serveUsers(t, func(c *daemon.Config, _ string) {
		c.Authorization.Modes, c.Serving.MaxBodiesBytes = []string{"AlwaysAllow"}, 8<<20
	}, append(users, "other")...)
	const request = "POST " + sharedMaps + "\r\nContent-Type: application/json\r\nContent-Length: 2097152\r\n\r\n"
	answers := make(chan *http.Response, len(users))
	for _, user := range users {
		go func() { answers <- r.begin(user, request+strings.Repeat(" ", 300<<10)) }() // takes a buffer of 1 MiB
	}
	client.Eventually(t, func() error {
		if a := r.do("root", "GET", "/metrics", ""); !strings.Contains(string(a.Body), "troupe_request_body_bytes 8388608\n") {
			return errors.New("the bodies do not take all memory")
		}
		return nil
	})
	for n := range 20 {
		r.expect("other", "POST", sharedMaps, fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"text":%q}}`, n, strings.Repeat("x", 10<<10)), 201)
	}
	resp := <-answers
	if resp == nil || resp.StatusCode != 429 {
		t.Fatalf("the reclaimed body: %v", resp)
	}
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"reason":"request-bytes"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestIncompleteBodies checks that one user's incomplete bodies do not cause the rejection of
// another user's writes.
func TestIncompleteBodies(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, _ string) { c.Authorization.Modes = []string{"AlwaysAllow"} }, "hostile", "other")
	part := strings.Repeat(" ", 2<<20)
	for range 60 {
		c, err := tls.Dial("tcp", strings.TrimPrefix(r.URL, "https://"), r.Anonymous())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(client.Watchdog))
		// Ignore errors, because the server may reject the request before it is complete.
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			sharedMaps, credential("hostile"), len(part)+1, part)
	}
	for n := range 20 {
		r.expect("other", "POST", sharedMaps, fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"text":%q}}`, n, strings.Repeat("x", 256<<10)), 201)
	}
}
