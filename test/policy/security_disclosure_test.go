package policy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestFailedPatches checks that the error for a failed patch discloses no content to users who may
// patch but not read the object. Users who may read it get details.
func TestFailedPatches(t *testing.T) {
	v := start(t, createUsers(t, "pat", "rae"))
	const (
		secrets = "/api/v1/namespaces/default/secrets"
		hidden  = "aHVudGVyMi1odW50ZXIy"
		note    = "n0te-n0te"
	)
	v.grant("patching", "pat", `{"apiGroups":[""],"resources":["secrets"],"verbs":["patch"]}`)
	v.grant("reading", "rae", `{"apiGroups":[""],"resources":["secrets"],"verbs":["patch","get"]}`)
	v.must(201, "POST", secrets, typeJSON, `{"metadata":{"name":"s","annotations":{"a":"`+note+`"}},"data":{"p":"`+hidden+`"}}`)
	for _, test := range []struct{ query, kind, body string }{
		{"?fieldValidation=Strict", typeMerge, `{"unknown":1}`},
		{"?fieldValidation=Strict", typeStrategic, `{"unknown":1}`},
		{"?fieldValidation=Strict", typeJSONPatch, `[{"op":"add","path":"/unknown","value":1}]`},
		{"", typeMerge, `{"data":[]}`},
		{"", typeMerge, `{"data":{"x":1}}`},
		{"", typeMerge, `{"metadata":{"labels":{"x":{}}}}`},
		{"", typeJSONPatch, `[{"op":"replace","path":"/metadata","value":1}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/metadata/name"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/metadata/uid"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/metadata/namespace"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/metadata/resourceVersion"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/immutable"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/metadata/deletionTimestamp"}]`},
		{"", typeJSONPatch, `[{"op":"add","path":"/metadata/finalizers","value":[""]},{"op":"copy","from":"/data/p","path":"/metadata/finalizers/0"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/metadata/annotations/a","path":"/metadata/annotations/a~1b~1c"},{"op":"copy","from":"/metadata/annotations/a","path":"/data/p"}]`},
		{"", typeJSONPatch, `[{"op":"copy","from":"/data/p","path":"/type"}]`},
		{"", typeJSONPatch, `[{"op":"test","path":"/data/p","value":"x"}]`},
		{"?fieldManager=p", typeApply, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"type":"other"}`},
	} {
		text := v.want("pat", "PATCH", secrets+"/s"+test.query, test.kind, test.body, 400, 409, 422, 500)
		for _, secret := range []string{hidden, note, base64.StdEncoding.EncodeToString([]byte(hidden))} {
			if strings.Contains(text, secret) {
				t.Errorf("%s %s shows %q: %s", test.query, test.body, secret, text)
			}
		}
	}
	if text := v.want("rae", "PATCH", secrets+"/s?fieldValidation=Strict", typeMerge, `{"unknown":1}`, 422); !strings.Contains(text, `unknown field`) || strings.Contains(text, hidden) {
		t.Errorf("a reader gets %s", text)
	}
	if text := v.want("pat", "PATCH", secrets+"/s", typeMerge, `{"type":"x"}`, 422); !strings.Contains(text, `"field":"type"`) {
		t.Errorf("the error names no field without the right to read: %s", text)
	}
}

// TestUnnameable checks that names that are invalid in a URL path are rejected, and that every
// created object can be read.
func TestUnnameable(t *testing.T) {
	v := start(t)
	names := []string{
		".", "..", "a/b", "a%b", "a\\b", "a\x00b", "a\nb", "a\x7fb", "a\u0085b", "%2e%2e", "a%2Fb", "../../x", strings.Repeat("x", 20_000), strings.Repeat("\u2603", 3000), strings.Repeat("\u2603", 12_000),
		"a b", "a?b", "a#b", "a&b=c", "a;b", "\u00e9\u2603", "...", "system:x", "A", "status", "watch", "a:b@c", "~", "\u202e", strings.Repeat("y", 253),
	}
	for path, object := range map[string]string{
		rights + "/clusterroles":                      `{"metadata":{"name":%s},"rules":[]}`,
		rights + "/clusterrolebindings":               `{"metadata":{"name":%s},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"x"}}`,
		rights + "/namespaces/default/roles":          `{"metadata":{"name":%s},"rules":[]}`,
		rights + "/namespaces/default/rolebindings":   `{"metadata":{"name":%s},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"x"}}`,
		"/apis/networking.platform.io/v1/ipaddresses": `{"metadata":{"name":%s},"spec":{"parentRef":{"resource":"services","name":"x"}}}`,
	} {
		made := 0
		for _, name := range names {
			quoted, _ := json.Marshal(name)
			code, text := v.do("POST", path, typeJSON, fmt.Sprintf(object, quoted))
			at := path + "/" + url.PathEscape(name)
			switch {
			case code == 422 && strings.Contains(text, `"field":"metadata.name"`):
			case code != 201:
				t.Errorf("%s %.40q: %d %.300s", path, name, code, text)
			default:
				made++
				if code, text := v.do("GET", at, "", ""); code != 200 {
					t.Errorf("%s %.40q was made, and then: %d %.300s", path, name, code, text)
				} else {
					v.must(200, "DELETE", at, "", "")
				}
			}
		}
		if made == 0 && strings.HasPrefix(path, rights) {
			t.Errorf("%s: nothing was made", path)
		}
	}
}

// TestAuditQueries checks that audit events do not contain tokens from query parameters, even if
// the parameter is spelled unusually.
func TestAuditQueries(t *testing.T) {
	v := start(t)
	const secret = "hunter2-hunter2"
	for _, name := range []string{
		"access_token", "token", "access%5Ftoken", "%61ccess_token", "ACCESS_TOKEN", "Token", "%74oken", "access%5ftoke%6E", "access_token%00", "access_token%zz", "%zztoken",
		"+access_token", "access_token+", "%20token", "id_token", "refresh_token",
	} {
		for _, path := range []string{"/version?", "/api/v1/secrets?watch=0&", "/version?a=b&", "/nowhere?;", "/version?a=b;"} {
			v.raw(v.anonymous(), "GET "+path+name+"="+secret+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			v.raw(v.anonymous(), "GET "+path+name+"="+secret+"&"+name+"="+secret+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}
	}
	v.do("GET", "/version?fieldSelector=kept%3Dkept&limit=7", "", "")
	text := v.audit()
	for line := range strings.Lines(text) {
		if strings.Contains(line, secret) {
			t.Errorf("the audit holds %s", line)
		}
	}
	if strings.Contains(v.log.String(), secret) {
		t.Error("the log holds it")
	}
	if !strings.Contains(text, "fieldSelector=kept%3Dkept&limit=7") || !strings.Contains(text, "REDACTED") {
		t.Error("the audit does not hold what is harmless")
	}
}

// TestAuditBombs checks that the audit log does not expand YAML aliases in a request body, even if
// the request is rejected.
func TestAuditBombs(t *testing.T) {
	v := start(t, func(c *daemon.Config) {
		client.WriteFile(t, c.Audit.PolicyFile, strings.Replace(securityAuditPolicy, "Metadata", "RequestResponse", 1))
	})
	v.must(201, "POST", configMaps, typeJSON, configMap("a"))
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 5000), ",") + "]\n"
	for _, test := range []struct{ method, path, kind string }{
		{"POST", configMaps, "application/yaml"}, {"PUT", configMaps + "/a", "application/yaml"},
		{"PATCH", configMaps + "/a", typeMerge}, {"PATCH", configMaps + "/a", typeJSONPatch}, {"PATCH", configMaps + "/a", typeStrategic},
		{"PATCH", configMaps + "/a?fieldManager=x", typeApply}, {"PATCH", configMaps + "/none?fieldManager=x", typeApply},
		{"DELETE", configMaps + "/a", "application/yaml"}, {"DELETE", configMaps, "application/yaml"},
	} {
		var code int
		bytes := allocated(func() { code, _ = v.do(test.method, test.path, test.kind, bomb) })
		if code < 400 || code >= 500 {
			t.Errorf("%s %s %s: %d", test.method, test.path, test.kind, code)
		}
		if bytes > 64<<20 {
			t.Errorf("%s %s %s: %d MiB", test.method, test.path, test.kind, bytes>>20)
		}
	}
	// The audit event of a YAML apply contains the parsed configuration, even for a no-op.
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yy}\ndata: {k: &v w, l: *v}\n"
	for _, code := range []int{201, 200, 200} {
		v.must(code, "PATCH", configMaps+"/yy?fieldManager=x", typeApply, config)
	}
	if n := strings.Count(v.audit(), `"requestObject":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"yy"},"data":{"k":"w","l":"w"}}`) +
		strings.Count(v.audit(), `"requestObject":{"apiVersion":"v1","data":{"k":"w","l":"w"},"kind":"ConfigMap","metadata":{"name":"yy"}}`); n < 3 {
		t.Errorf("%d of the applied configurations are in the audit: %.1500s", n, v.audit()[max(0, len(v.audit())-1500):])
	}
}
