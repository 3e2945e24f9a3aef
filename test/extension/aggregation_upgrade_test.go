package extension

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestUpgrade checks that upgraded connections of any protocol are forwarded, and that the backend
// receives the user.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"SPDY/3.1", "websocket"} {
		t.Run(strings.ToLower(protocol[:4]), func(t *testing.T) {
			t.Parallel()
			b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Upgrade") != protocol {
					return false
				}
				conn, both, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return true
				}
				defer conn.Close()
				fmt.Fprintf(both, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\nhello %s\n", protocol, r.Header.Get("X-Remote-User"))
				_ = both.Flush()
				line, _ := both.ReadString('\n')
				fmt.Fprintf(both, "you said %s", line)
				_ = both.Flush()
				return true
			})
			s := openAggregation(t, b.address(), nil)
			s.register(b, "ext.example.com", "v1")
			conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), s.TLS)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST /apis/ext.example.com/v1/namespaces/n/things/x/exec HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Remote-User: mallory\r\nContent-Length: 0\r\n\r\n", protocol)
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, nil)
			if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != protocol {
				t.Fatalf("%v, %v", resp, err)
			}
			line, err := reader.ReadString('\n')
			if line != "hello platform-admin\n" {
				t.Fatalf("%q, %v", line, err)
			}
			fmt.Fprint(conn, "goodbye\n")
			if rest, _ := io.ReadAll(reader); string(rest) != "you said goodbye\n" {
				t.Errorf("%q", rest)
			}
		})
	}
}

// TestWatchEndsWithTheRight checks that a watch on an aggregated resource ends when its user loses
// permission.
func TestWatchEndsWithTheRight(t *testing.T) {
	t.Parallel()
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("watch") == "" {
			return false
		}
		fmt.Fprintln(w, `{"type":"ADDED"}`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	const group = "rbac.authorization.platform.io"
	s.Send(201, "POST", "/apis/"+group+"/v1/clusterroles", client.JSON,
		`{"apiVersion":"`+group+`/v1","kind":"ClusterRole","metadata":{"name":"things"},"rules":[{"apiGroups":["ext.example.com"],"resources":["things"],"verbs":["watch"]}]}`)
	s.Send(201, "POST", "/apis/"+group+"/v1/clusterrolebindings", client.JSON,
		`{"apiVersion":"`+group+`/v1","kind":"ClusterRoleBinding","metadata":{"name":"things"},"roleRef":{"apiGroup":"`+group+`","kind":"ClusterRole","name":"things"},"subjects":[{"apiGroup":"`+group+`","kind":"User","name":"jane"}]}`)
	resp := s.request("GET", "/apis/ext.example.com/v1/things?watch=true", "Impersonate-User", "jane")
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); line != `{"type":"ADDED"}`+"\n" {
		t.Fatalf("%d %q, %v", resp.StatusCode, line, err)
	}
	s.Send(200, "DELETE", "/apis/"+group+"/v1/clusterrolebindings/things", "", "")
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err == nil {
		t.Errorf("the watch goes on with %q, or has ended well (%v)", rest, err)
	}
	if resp := s.request("GET", "/apis/ext.example.com/v1/things?watch=true", "Impersonate-User", "jane"); resp.StatusCode != 403 {
		t.Errorf("%d", resp.StatusCode)
	}
}

// TestBodiesPassThrough checks that bodies above the daemon's size limit are forwarded unchanged.
func TestBodiesPassThrough(t *testing.T) {
	t.Parallel()
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != "POST" {
			return false
		}
		_, err := io.Copy(w, r.Body)
		return err == nil
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	body := strings.Repeat("0123456789abcdef", 1<<19) // 8 MiB, more than this server's own limit
	a, err := s.Do(s.Ctx, "POST", "/apis/ext.example.com/v1/namespaces/n/things", "application/octet-stream", []byte(body))
	if err != nil || a.Code != 200 || string(a.Body) != body {
		t.Errorf("%d, %d bytes, %v", a.Code, len(a.Body), err)
	}
}
