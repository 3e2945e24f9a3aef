package policy

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const securityAuditPolicy = `{"apiVersion": "audit.platform.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}`

func (v *testServer) audit() string {
	v.t.Helper()
	text := client.ReadFile(v.t, v.dir+".audit")
	return string(text)
}

type auditEvent struct {
	Kind, Level, AuditID, Stage, RequestURI, UserAgent string
	SourceIPs                                          []string
	User, ImpersonatedUser                             struct {
		Username string
		Groups   []string
	}
	ObjectRef      map[string]string
	ResponseStatus struct{ Code int }
}

func (v *testServer) events(text string) (list []auditEvent) {
	v.t.Helper()
	for line := range strings.Lines(text) {
		var e auditEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind != "Event" || e.Level != "Metadata" {
			v.t.Fatalf("no event: %v, %q", err, line)
		}
		list = append(list, e)
	}
	return list
}

// TestAuditForgery checks that each stage of a request is logged as one printable line with correct
// values, even for forged input.
func TestAuditForgery(t *testing.T) {
	v := start(t)
	const forged = `{"kind":"Event","level":"Metadata","auditID":"forged"}`
	for _, test := range []struct {
		headers, path string
		code          int
	}{
		{"User-Agent: a\"}\x1b[2K" + forged, "/version", 400}, // rejected as invalid HTTP
		{"User-Agent: a\"},\t" + forged + "\u0085\xff", "/version", 200},
		{"User-Agent: \u202e\u2028\u2066x", "/version", 200},
		{"User-Agent: " + strings.Repeat("x", 20000), "/version", 200},
		{"Audit-Id: x\"," + forged, "/version", 200},
		{"X-Forwarded-For: 1.2.3.4\", " + forged + ", 10.0.0.1, ::1%eth0", "/version", 200},
		{"X-Real-Ip: " + forged, "/version", 200},
		{"Impersonate-User: a\u0085b" + forged, "/version", 403},
		{"Authorization: Bearer " + forged, "/version", 401},
		{"X: y", "/version?a=" + strings.ReplaceAll(forged, `"`, "%22") + "%0a%1b", 200},
		{"X: y", "/version?a=\"}" + strings.ReplaceAll(forged, " ", ""), 200},
		{"X: y", "/api/v1/namespaces/%E2%80%AE%C2%85/configmaps/%22%7D", 403},
		{"X: y", "/apis/%E2%80%A8/v1/x", 403},
	} {
		before := len(v.audit())
		if got := v.raw(v.anonymous(), "GET "+test.path+" HTTP/1.1\r\nHost: x\r\n"+test.headers+"\r\n\r\n"); got.code != test.code {
			t.Errorf("%.60q %s: %d, want %d: %s", test.headers, test.path, got.code, test.code, got.body)
		}
		text := v.audit()[before:]
		want := map[int]int{400: 0, 401: 1, 200: 2, 403: 2}[test.code]
		list := v.events(text)
		if len(list) != want || want > 0 && list[want-1].ResponseStatus.Code != test.code || strings.Contains(text, `"auditID":"forged"`) {
			t.Errorf("%.60q %s: %s", test.headers, test.path, text)
		}
		for _, e := range list {
			if ips := e.SourceIPs; len(ips) == 0 || ips[len(ips)-1] != "127.0.0.1" {
				t.Errorf("%.60q: came from %v", test.headers, ips)
			}
		}
		if len(text) > 8000 {
			t.Errorf("%.60q: %d bytes", test.headers, len(text))
		}
		for _, r := range text {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 || r == 0x2066 {
				t.Errorf("%.60q: %q is in the line", test.headers, r)
				break
			}
		}
	}
}

// TestAuditIdentity checks that audit events contain the authenticated user, not the identity that
// the client claims.
func TestAuditIdentity(t *testing.T) {
	v := start(t)
	for headers, want := range map[string]string{
		"X-Remote-User: admin\r\nX-Remote-Group: system:masters":                                 "system:anonymous",
		"Authorization: Bearer " + token + "\r\nImpersonate-User: admin":                         "jane",
		"Authorization: Bearer " + token + "\r\nX-Remote-User: admin":                            "jane",
		"Authorization: Bearer " + token + "x":                                                   "",
		"Authorization: Bearer \r\nX-Remote-User: admin":                                         "system:anonymous",
		"Authorization: Bearer " + token + "\r\niMPERSONATE-gROUP: system:masters":               "jane",
		"Authorization: Bearer " + token + "\r\nImpersonate-User: x\r\nImpersonate-Extra-A%2: b": "jane",
	} {
		before := len(v.audit())
		v.raw(v.anonymous(), "GET "+configMaps+" HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n\r\n")
		list := v.events(v.audit()[before:])
		if len(list) == 0 {
			t.Errorf("%q was not audited", headers)
		}
		for _, e := range list {
			if e.User.Username != want || e.ImpersonatedUser.Username == "admin" {
				t.Errorf("%q: %+v", headers, e)
			}
		}
	}
}

// TestAuditSecrets checks that audit events at level Metadata contain no credential or Secret,
// regardless of the outcome of the request.
func TestAuditSecrets(t *testing.T) {
	v := start(t)
	const (
		secret  = "hunter2-hunter2"
		secrets = "/api/v1/namespaces/default/secrets"
		merge   = "application/merge-patch+json"
		apply   = "application/apply-patch+yaml"
	)
	long := strings.Repeat(secret, 50_000)
	data := base64.StdEncoding.EncodeToString([]byte(secret))
	v.must(201, "POST", secrets, typeJSON, `{"metadata":{"name":"a"},"data":{"p":"`+data+`"}}`)
	v.must(201, "POST", secrets, typeJSON, `{"metadata":{"name":"b"},"stringData":{"p":"`+secret+`"}}`)
	v.must(200, "PUT", secrets+"/a", typeJSON, `{"metadata":{"name":"a"},"stringData":{"q":"`+secret+`"}}`)
	v.must(200, "PATCH", secrets+"/a", merge, `{"stringData":{"r":"`+secret+`"}}`)
	v.must(200, "PATCH", secrets+"/a?fieldManager=x", apply, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"s":"`+secret+`"}}`)
	v.must(200, "GET", secrets, "", "")
	v.must(200, "GET", secrets+"?watch=1&timeoutSeconds=1", "", "")
	for _, body := range []string{
		`{"data":{"p":"` + secret + `"}}`, `{"` + secret + `":1`, `{"data":"` + secret + `"}`, `{"metadata":{"name":"` + secret + `!"}}`,
		`{"metadata":{"name":"c"},"type":"kubernetes.io/tls","stringData":{"` + secret + `/":"x"}}`, secret, `{"metadata":{"name":"c"},"data":{"` + secret + `/":""}}`,
		`{"metadata":{"name":"` + long + `","uid":"` + long + `"},"data":{"p":"` + long + `"}}`,
		`{"metadata":{"name":"d","labels":{"a":"` + secret + ` "}}}`, `{"kind":"` + secret + `"}`,
	} {
		for _, kind := range []string{typeJSON, "application/yaml"} {
			if code, text := v.do("POST", secrets, kind, body); code < 400 {
				t.Errorf("%s: %d %s", body, code, text)
			}
		}
		v.do("PATCH", secrets+"/a", merge, body)
		v.do("PATCH", secrets+"/a?fieldManager=x", apply, body)
	}
	v.do("POST", "/apis/authentication.platform.io/v1/tokenreviews", typeJSON, `{"spec":{"token":"`+secret+`"}}`)
	v.do("GET", "/version?x=1&access_token="+secret, "", "")
	for _, headers := range []string{
		"Authorization: Bearer " + secret, "Authorization: Basic " + data, "Authorization: " + secret, "Cookie: " + secret,
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: base64url.bearer.authorization.platform.io." +
			base64.RawURLEncoding.EncodeToString([]byte(secret)) + ", x",
	} {
		v.raw(v.anonymous(), "GET "+secrets+"?watch=1 HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n\r\n")
	}
	encoded := base64.RawStdEncoding.EncodeToString([]byte(secret))
	for name, text := range map[string]string{"audit": v.audit(), "log": v.log.String()} {
		for line := range strings.Lines(text) {
			if len(line) > 8000 {
				t.Errorf("a line of %d bytes is in the %s: %.500s", len(line), name, line)
			}
			for _, hidden := range []string{secret, encoded[:len(encoded)-1], "68756e746572"} {
				// The event of a rejected request contains the invalid name as the name of the
				// requested object.
				if name == "audit" && strings.Contains(line, `"name":"`+secret+`!"`) {
					continue
				}
				if strings.Contains(line, hidden) {
					t.Errorf("%q is in the %s: %s", hidden, name, line)
				}
			}
		}
	}
	if n := len(v.events(v.audit())); n < 50 {
		t.Errorf("only %d events", n)
	}
}
