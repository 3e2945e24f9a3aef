package extension

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const proxyingAuditPolicy = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [
	{level: Metadata, resources: [{group: "", resources: [pods/*, nodes/*]}]}, {level: None}]}`

// TestAudit checks that forwarded requests are audited with the status code of the response, and
// streams at their start and end. The audited URI includes the command, but stream content is not
// logged.
func TestAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	client.WriteFile(t, policy, proxyingAuditPolicy)
	c := newCluster(t, "127.0.0.1", func(o *daemon.Config) {
		o.Audit.PolicyFile, o.Audit.Log.Path, o.Audit.Log.Mode = policy, log, "blocking"
	})
	for name, executor := range executors {
		e, err := executor(c.config, c.stream("exec", "one", &corev1.PodExecOptions{Stdin: true, Stdout: true, Command: []string{"cat"}}))
		must(t, err)
		var out strings.Builder
		if err := e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("hunter2"), Stdout: &out}); err != nil || out.String() != "hunter2" {
			t.Errorf("%s: %q %v", name, out.String(), err)
		}
	}
	if _, err := c.clients.CoreV1().Pods("default").GetLogs("one", &corev1.PodLogOptions{}).DoRaw(t.Context()); err != nil {
		t.Error(err)
	}
	c.fault(t, "/api/v1/nodes/here/proxy/metrics")
	c.server.Stop(t)
	text, err := os.ReadFile(log)
	must(t, err)
	var got []string
	for line := range strings.Lines(string(text)) {
		var e struct {
			Stage, Verb, RequestURI string
			ObjectRef               struct{ Resource, Name, Subresource string }
			ResponseStatus          struct{ Code int }
		}
		must(t, json.Unmarshal([]byte(line), &e))
		if e.ObjectRef.Subresource == "" || e.ObjectRef.Subresource == "status" {
			continue
		}
		if e.ObjectRef.Subresource == "exec" && !strings.Contains(e.RequestURI, "command=cat") {
			t.Errorf("the command is missing: %s", line)
		}
		b, err := json.Marshal([]any{e.ObjectRef.Resource + "/" + e.ObjectRef.Subresource, e.ObjectRef.Name, e.Verb, e.Stage, e.ResponseStatus.Code})
		must(t, err)
		got = append(got, string(b))
	}
	slices.Sort(got)
	want := []string{
		`["nodes/proxy","here","get","ResponseComplete",400]`,
		`["pods/exec","one","create","ResponseComplete",101]`, `["pods/exec","one","create","ResponseStarted",101]`,
		`["pods/exec","one","get","ResponseComplete",101]`, `["pods/exec","one","get","ResponseStarted",101]`,
		`["pods/log","one","get","ResponseComplete",200]`, `["pods/log","one","get","ResponseStarted",200]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("audited is\n%s", strings.Join(got, "\n"))
	}
	if strings.Contains(string(text), "hunter2") {
		t.Error("what went through a stream is in the log")
	}
}
