package policy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
)

// TestLogsAndMetrics checks that requests cannot put control characters into the log or audit log,
// or secrets into the logs or metrics. Requests for random paths add no metric series.
func TestLogsAndMetrics(t *testing.T) {
	v := start(t)
	const secret = "c3VwZXItc2VjcmV0LXZhbHVl"
	const secrets = "/api/v1/namespaces/default/secrets"
	v.must(201, "POST", secrets, typeJSON, `{"metadata":{"name":"s"},"data":{"password":"`+secret+`"}}`)
	v.must(400, "POST", secrets, typeJSON, `{"metadata":{"name":"bad"},"data":{"password":"`+secret+`"}`)
	v.must(422, "POST", secrets, typeJSON, `{"metadata":{"name":"bad"},"data":{"a/b":"`+secret+`"}}`)
	v.must(200, "GET", secrets, "", "")
	for _, request := range []string{
		"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n",
		"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong-t0ken\r\n\r\n",
		"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong-t0ken\r\nX bad: " + token + "\r\n\r\n",
		"GET /api/v1/namespaces/default/configmaps/a%0Aforged%1b HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /version HTTP/1.1\r\nHost: x\r\nUser-Agent: a\x1b[31mforged\x7f\r\nX-Request-Id: \x1bforged\r\n\r\n",
		"GET /readyz/a%0Aforged HTTP/1.1\r\nHost: x\r\n\r\n",
		"\x1bforged\r\n\r\n",
	} {
		v.raw(v.anonymous(), request)
	}
	name := url.PathEscape("a\u2028b\u0085c")
	v.do("GET", configMaps+"/"+name, "", "")
	before := strings.Count(v.must(200, "GET", "/metrics", "", ""), "\n")
	for n := range 300 {
		v.do("GET", fmt.Sprintf("/random/%d", n), "", "")
		v.do("GET", fmt.Sprintf("/apis/g%d/v1/things/x", n), "", "")
		v.do("GET", fmt.Sprintf("/api/v1/namespaces/n%d/configmaps/c%d", n, n), "", "")
	}
	after := v.must(200, "GET", "/metrics", "", "")
	if n := strings.Count(after, "\n"); n > before+100 {
		t.Errorf("900 random paths made %d lines of metrics out of %d", n, before)
	}
	for _, text := range []string{v.log.String(), after, v.audit()} {
		for _, hidden := range []string{token, "wrong-t0ken", secret, "super-secret-value"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%q is in log, metrics or audit", hidden)
			}
		}
		for _, r := range text {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x85 || r == 0x2028 {
				t.Errorf("control character %q in log, metrics or audit", r)
				break
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "forged") {
				t.Errorf("a forged line: %s", line)
			}
		}
	}
}

// TestContinueTokens checks that a continue token is valid only for the list that returned it.
func TestContinueTokens(t *testing.T) {
	v := start(t)
	v.must(201, "POST", "/api/v1/namespaces", typeJSON, `{"metadata":{"name":"other"}}`)
	for _, namespace := range []string{"default", "other"} {
		for _, n := range []string{"a", "b", "c"} {
			v.must(201, "POST", "/api/v1/namespaces/"+namespace+"/configmaps", typeJSON, configMap(n+"-"+namespace))
		}
	}
	v.must(201, "POST", "/api/v1/namespaces/other/secrets", typeJSON, `{"metadata":{"name":"z-hidden"}}`)
	var list struct {
		Metadata struct {
			Continue        string `json:"continue"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []struct {
			Metadata struct{ Namespace, Name string } `json:"metadata"`
		} `json:"items"`
	}
	client.Decode(t, v.must(200, "GET", configMaps+"?limit=1", "", ""), &list)
	own := list.Metadata.Continue
	if own == "" {
		t.Fatal("no token")
	}
	forge := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	plain, err := base64.RawURLEncoding.DecodeString(own)
	if err != nil {
		t.Fatal(err)
	}
	tokens := []string{own, "x", "%00", forge("{}"), forge("[]"), forge("null"), own + own}
	for _, change := range [][2]string{{"default", "other"}, {"configmaps", "secrets"}, {`"s":"`, `"s":"../`}, {`"s":"`, `"s":"other/`}, {`"v":`, `"v":9`}, {`"v":`, `"v":-`}} {
		tokens = append(tokens, forge(strings.ReplaceAll(string(plain), change[0], change[1])))
	}
	for _, path := range []string{configMaps, "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/other/configmaps", "/api/v1/secrets"} {
		for _, token := range tokens {
			code, text := v.do("GET", path+"?limit=10&continue="+url.QueryEscape(token), "", "")
			list.Items = nil
			switch {
			case code == 400 || code == 410 || code == 504:
				continue
			case code != 200 || json.Unmarshal([]byte(text), &list) != nil:
				t.Errorf("%s with %q: %d %s", path, token, code, text)
			case path != configMaps && token == own:
				t.Errorf("%s goes on with the token of another list", path)
			}
			for _, item := range list.Items {
				if strings.Contains(path, "/namespaces/default/") && item.Metadata.Namespace != "default" {
					t.Errorf("%s with %q shows %+v", path, token, item.Metadata)
				}
			}
			if path == configMaps && strings.Contains(text, "z-hidden") {
				t.Errorf("%s shows a Secret", path)
			}
		}
	}
}

type rejectingAuthenticator struct{}

func (rejectingAuthenticator) Authenticate(authn.Request) (*authn.User, error) { return nil, nil }

// TestSlowHeaders checks that the server closes connections with incomplete requests after a
// timeout.
func TestSlowHeaders(t *testing.T) {
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var store struct{ front.Store } // not used
	server, err := front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: rejectingAuthenticator{}, Authorizer: authz.Masters{},
		Listener: listener, Limits: front.Limits{ReadTimeout: 300 * time.Millisecond, IdleTimeout: 300 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	defer func() {
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	var slow []net.Conn
	for _, begun := range []string{"", "GET /", "GET /version HTTP/1.1\r\nHost: x\r\nX-", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, begun); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	for n, conn := range slow {
		_ = conn.SetReadDeadline(time.Now().Add(client.Watchdog))
		text, err := io.ReadAll(conn)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			t.Errorf("connection %d stays open", n)
		}
		// The request without credentials is rejected before its body is read.
		if len(text) > 0 && !strings.HasPrefix(string(text), "HTTP/1.1 408 ") && !(n == 3 && strings.HasPrefix(string(text), "HTTP/1.1 401 ")) {
			t.Errorf("connection %d: %q", n, text)
		}
	}
}
