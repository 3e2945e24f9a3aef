package policy

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
	"github.com/troupe-api/troupe/test/transcript"
)

// auditLevels lists the audit levels whose logs are compared with golden files. Each level applies
// to the namespace of that name.
var auditLevels = []string{"metadata", "request", "response"}

const authAuditPolicy = `apiVersion: audit.platform.io/v1
kind: Policy
rules:
- {level: None, users: [root], verbs: [create], resources: [{group: "", resources: [namespaces]}]}
- {level: Metadata, namespaces: [metadata], omitStages: [RequestReceived]}
- {level: Request, namespaces: [request]}
- {level: RequestResponse, namespaces: [response], omitManagedFields: true, omitStages: [RequestReceived, ResponseStarted]}
- {level: Metadata, nonResourceURLs: [/metrics]}
`

// A collector is an audit webhook that counts events.
type collector struct {
	mu     sync.Mutex
	events int
	fault  string
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var list struct {
		Kind  string
		Items []struct{ Kind string }
	}
	err := json.NewDecoder(r.Body).Decode(&list)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || list.Kind != "EventList" || r.Header.Get("Authorization") != "Bearer token-for-collector" {
		c.fault = fmt.Sprintf("%v %q %v", err, list.Kind, r.Header)
	}
	c.events += len(list.Items)
}

// auditWebhook serves c as an audit webhook and returns the path of its kubeconfig.
func auditWebhook(t *testing.T, c *collector, dir string) (path string) {
	t.Helper()
	server := httptest.NewTLSServer(c)
	t.Cleanup(server.Close)
	path = filepath.Join(dir, "webhook.kubeconfig")
	ca := base64.StdEncoding.EncodeToString(pki.PEM(server.Certificate()))
	text := fmt.Sprintf("clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\nusers: [{name: u, user: {token: token-for-collector}}]\n", server.URL, ca)
	client.WriteFile(t, path, text)
	return path
}

// TestAuditLogs sends the same requests at each audit level and compares the logs with golden
// files. Both audit backends buffer events for an hour, so only the shutdown flushes them.
func TestAuditLogs(t *testing.T) {
	t.Parallel()
	var path string
	var remote collector
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		path = filepath.Join(dir, "logs", "audit.log")
		c.Audit.PolicyFile = filepath.Join(dir, "policy.yaml")
		client.WriteFile(t, c.Audit.PolicyFile, authAuditPolicy)
		c.Audit.Log.Path, c.Audit.Log.Mode = path, "batch"
		c.Audit.Webhook.ConfigFile = auditWebhook(t, &remote, dir)
		if err := errors.Join(c.Audit.Log.Batch.MaxWait.Set("1h"), c.Audit.Webhook.Batch.MaxWait.Set("1h")); err != nil {
			t.Fatal(err)
		}
	}, "jane=developers")
	for _, level := range auditLevels {
		r.must("/api/v1/namespaces", `{"metadata":{"name":"`+level+`"}}`)
		playAudited(r, level)
	}
	if a := r.do("root", "GET", "/metrics", ""); !strings.Contains(string(a.Body), "apiserver_audit_level_total{level=\"Request\"}") ||
		!strings.Contains(string(a.Body), "apiserver_audit_error_total{plugin=\"log\"} 0\n") {
		t.Errorf("metrics: %.3000s", a.Body)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
		t.Errorf("the batch is written before its time: %v", err)
	}
	r.Stop(t)
	text := client.ReadFile(t, path)
	if n := strings.Count(string(text), "\n"); remote.events != n || remote.fault != "" {
		t.Errorf("the webhook got %d events, the log %d: %s", remote.events, n, remote.fault)
	}
	byLevel := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			ObjectRef struct{ Namespace string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		byLevel[e.ObjectRef.Namespace] += line
	}
	for _, level := range auditLevels {
		checkAudit(t, level, byLevel[level])
	}
	for _, hidden := range []string{"token-of", "not-a-token", "query-token", "Bearer"} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("%q is in the log", hidden)
		}
	}
	for _, hidden := range []string{"aHVudGVyMg", "hunter", "68756e746572"} {
		if strings.Contains(byLevel["metadata"], hidden) {
			t.Errorf("%q is in the log at level Metadata", hidden)
		}
	}
}

// TestFaultyAudit checks that a faulty audit configuration prevents startup, with an error that
// contains the flag and the field.
func TestFaultyAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, unknown := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "unknown.yaml")
	client.WriteFile(t, policy, "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: None}, {level: All}]\n")
	client.WriteFile(t, unknown, "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: None}, {verb: [get]}]\n")
	for _, test := range []struct {
		change func(*daemon.Audit)
		want   []string
	}{
		{func(a *daemon.Audit) { a.PolicyFile = policy }, []string{"--audit-policy-file", policy, `rules[1].level: Unsupported value: "All"`}},
		{func(a *daemon.Audit) { a.PolicyFile = unknown }, []string{"--audit-policy-file", unknown, `unknown field "rules[1].verb"`}},
		{func(a *daemon.Audit) { a.PolicyFile = dir + "/none" }, []string{"--audit-policy-file", dir + "/none"}},
		{func(a *daemon.Audit) { a.Log.Path = policy + "/audit.log" }, []string{"--audit-log-path", policy}},
		{func(a *daemon.Audit) { a.Log.Version = "audit.platform.io/v1beta1" }, []string{"audit-log-version", "is not audit.platform.io/v1"}},
		{func(a *daemon.Audit) { a.Webhook.ConfigFile = policy }, []string{"--audit-webhook-config-file", policy}},
	} {
		config := daemon.Default()
		config.DataDir, config.Serving.SecurePort = filepath.Join(dir, "data"), 0
		test.change(&config.Audit)
		d, err := daemon.New(config, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		err = d.Start()
		for _, text := range test.want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v, want %q", err, text)
			}
		}
	}
}

// playAudited sends a request of each type in a namespace.
func playAudited(r *userCluster, namespace string) {
	r.t.Helper()
	maps, secrets := "/api/v1/namespaces/"+namespace+"/configmaps", "/api/v1/namespaces/"+namespace+"/secrets"
	const (
		protobuf = "Accept: application/vnd.platform.protobuf"
		agent    = "User-Agent: tester/1\u202e"
	)
	for _, p := range []struct {
		id, user, method, path, body string
		code                         int
		headers                      []string
	}{
		{"create", "root", "POST", maps + "?fieldManager=tester", "{\n  \"metadata\": {\"name\": \"a\\u001b\u2028\", \"annotations\": null}}\n", 422, nil},
		{"create-good", "root", "POST", maps + "?fieldManager=tester", "{\n  \"metadata\": {\"name\": \"a\"}, \"data\": {\"k\": \"\\u001b\u2028é\"}}\n", 201, []string{"X-Forwarded-For: 10.1.1.1, nonsense, fe80::1", "X-Real-Ip: 10.1.1.2"}},
		{"create-generated", "root", "POST", maps + "?dryRun=All", "metadata: {generateName: g-}\ndata: {k: v}\n", 201, []string{"Content-Type: application/yaml"}},
		{"get", "root", "GET", maps + "/a?access_token=query-token&pretty=true", "", 200, nil},
		{"get-protobuf", "root", "GET", maps + "/a", "", 200, []string{protobuf}},
		{"get-missing", "root", "GET", maps + "/b", "", 404, nil},
		{"list", "root", "GET", maps + "?fieldSelector=metadata.name%3Da", "", 200, nil},
		{"watch", "root", "GET", maps + "?watch=1&timeoutSeconds=1", "", 200, nil},
		{"patch", "root", "PATCH", maps + "/a?fieldManager=tester", `{"data":{"k":"w"}}`, 200, nil},
		{"patch-malformed", "root", "PATCH", maps + "/a?fieldManager=tester", `{"data":]`, 400, nil},
		{"apply", "root", "PATCH", maps + "/a?fieldManager=applier&force=true", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: x}\n", 200, []string{"Content-Type: application/apply-patch+yaml"}},
		{"delete-unsafe", "root", "DELETE", maps + "/a?ignoreStoreReadErrorWithClusterBreakingPotential=true", "", 409, nil},
		{"delete", "root", "DELETE", maps + "/a", `{"propagationPolicy":"Background"}`, 200, nil},
		{"forbidden", "jane", "GET", maps, "", 403, nil},
		{"unauthorized", "", "GET", maps, "", 401, []string{"Authorization: Bearer not-a-token"}},
		{"anonymous", "", "GET", maps, "", 403, nil},
		{"bad-time", "root", "GET", maps + "?timeout=soon", "", 400, nil},
		{"impersonated-constrained", "root", "GET", maps, "", 403, []string{"Impersonate-User: jane", "Impersonate-Group: developers"}},
		{"impersonated", "root", "GET", maps, "", 403, []string{"Impersonate-User: jane", "Impersonate-Group: developers", "Impersonate-Extra-Scopes: a"}},
		{"impersonation-forbidden", "jane", "GET", maps, "", 403, []string{"Impersonate-User: root"}},
		{"deprecated", "root", "GET", "/api/v1/namespaces/" + namespace + "/endpoints/x", "", 404, nil},
		{"secret", "root", "POST", secrets, `{"metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="},"stringData":{"p":"hunter2"}}`, 201, nil},
		{"secret-invalid", "root", "POST", secrets, `{"metadata":{"name":"t"},"data":{"password":"hunter3"}}`, 400, nil},
		{"secret-malformed", "root", "POST", secrets, `{"data":{"hunter":1}`, 400, nil},
		{"secret-get", "root", "GET", secrets + "/s", "", 200, nil},
	} {
		headers := append([]string{"Audit-Id: " + p.id}, p.headers...)
		if p.id == "list" {
			headers = append(headers, agent)
		}
		if code, id := askAudited(r, p.user, p.method, p.path, p.body, headers); code != p.code || id != p.id {
			r.t.Errorf("%s: %d with id %q, want %d", p.id, code, id, p.code)
		}
	}
}

// askAudited sends a request and returns the status code and Audit-Id of the response. Each of
// headers has the form "name: value".
func askAudited(r *userCluster, user, method, path, body string, headers []string) (code int, id string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.URL+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("User-Agent", "tester")
	q.Header.Set("Content-Type", client.JSON)
	if method == http.MethodPatch {
		q.Header.Set("Content-Type", client.MergePatch)
	}
	if user != "" {
		q.Header.Set("Authorization", "Bearer "+credential(user))
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Set(name, value)
	}
	answer, err := r.transport.RoundTrip(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Audit-Id")
}

// volatile matches the parts of a log that vary between runs.
var volatile = regexp.MustCompile(`("(?:requestReceivedTimestamp|stageTimestamp|creationTimestamp|time)":)"[^"]*"|("(?:uid|resourceVersion)":)"[^"]+"|("name":)"g-[^"]+"`)

func checkAudit(t *testing.T, level, log string) {
	t.Helper()
	got := volatile.ReplaceAllString(byRequest(log), `$1$2$3"…"`)
	transcript.Golden(t, "testdata/auth/audit-"+level+".txt", got)
}

var auditID = regexp.MustCompile(`"auditID":"([^"]*)"`)

// byRequest groups log lines by request, because the end of a watch may be logged after the start
// of the next request.
func byRequest(log string) string {
	lines := map[string]string{}
	var order []string
	for line := range strings.Lines(log) {
		id := ""
		if found := auditID.FindStringSubmatch(line); found != nil {
			id = found[1]
		}
		if lines[id] == "" {
			order = append(order, id)
		}
		lines[id] += line
	}
	var sorted strings.Builder
	for _, id := range order {
		sorted.WriteString(lines[id])
	}
	return sorted.String()
}
