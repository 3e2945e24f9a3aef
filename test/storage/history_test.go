package storage

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

// historySettings limits the archive, and the time for which changes stay in memory. All states are
// therefore read from the journal.
const historySettings = `
journal-segment-bytes: 1Mi
journal-archive-bytes: 3Mi
watch-history-time: 10ms
watch-history-bytes: 1Mi
audit-policy-file: %s
audit-log-path: %s
`

const historyAuditPolicy = "apiVersion: %s/v1\nkind: Policy\nrules: [{level: Metadata, resources: [{resources: [secrets]}]}, {level: None}]\n"

const noHistory = "no change of the object is retained: increase --journal-archive-bytes or, with etcd, --watch-history-time"

// A pastState is a list at a point in time.
type pastState struct {
	version uint64
	time    time.Time
	list    string
}

// TestHistory reads past objects and lists from the journal, including encrypted objects. It also
// does so while segments are archived and dropped, and after kill -9. Each read must be in the
// audit log.
func TestHistory(t *testing.T) {
	client.InProfiles(t, testHistory)
}

func testHistory(t *testing.T, profile string) {
	dir := t.TempDir()
	config, audit := filepath.Join(dir, "troupe.yaml"), filepath.Join(dir, "audit.log")
	group := map[string]string{"platform": "audit.platform.io", "kubernetes": "audit.k8s.io"}[profile]
	client.WriteFile(t, filepath.Join(dir, "policy.yaml"), fmt.Sprintf(historyAuditPolicy, group))
	client.WriteFile(t, config, fmt.Sprintf(historySettings, filepath.Join(dir, "policy.yaml"), audit))
	client.WriteFile(t, filepath.Join(dir, "encryption.yaml"), client.Named(profile, forSecrets(aKey("aesgcm", "one", 1))))
	data := filepath.Join(dir, "data")
	serve := func() *daemonProcess {
		return serveProcess(t, data, "--config", config, "--controllers", client.WithoutRoots+",-serviceaccount-token-secret-controller", "--naming", profile, "--encryption-provider-config", filepath.Join(dir, "encryption.yaml"))
	}
	p := serve()
	c := p.caller()
	var states []pastState
	remember := func() {
		t.Helper()
		text := c.must(t, 200, "GET", secrets, "")
		states = append(states, pastState{must.Get(parse(text))(t).version(), time.Now(), text})
	}
	fill := strings.Repeat("f", 100<<10)
	grow := func() { // by more than a segment
		t.Helper()
		for range 12 {
			c.must(t, 200, "PATCH", configMaps+"/fill", `{"data":{"f":"`+fill+`"}}`)
			fill = fill[1:] + "g"
		}
		mustCommand(t, "compact", "--kubeconfig", p.Kubeconfig)
	}
	c.must(t, 201, "POST", configMaps, client.ConfigMapText("fill"))
	c.must(t, 201, "POST", secrets, secret("a", "one"))
	remember()
	c.must(t, 201, "POST", secrets, secret("b", "other"))
	remember()
	grow()
	c.must(t, 200, "PATCH", secrets+"/a", `{"stringData":{"v":"second-mArKeR"}}`)
	remember()
	c.must(t, 200, "DELETE", secrets+"/a", "")
	remember()
	grow()
	check := func(when string, first int) {
		t.Helper()
		for i, s := range states {
			code := 200
			if i < first {
				code = 410
			}
			exact := c.must(t, code, "GET", fmt.Sprintf("%s?resourceVersion=%d&resourceVersionMatch=Exact", secrets, s.version), "")
			if code == 200 && exact != s.list {
				t.Errorf("%s: at version %d there is\n%s\nwant\n%s", when, s.version, exact, s.list)
			}
			at := c.must(t, code, "GET", secrets+"?at="+url.QueryEscape(s.time.Format(time.RFC3339Nano)), "")
			if code == 200 && itemsOf(t, at) != itemsOf(t, s.list) {
				t.Errorf("%s: at %s there is\n%s\nwant\n%s", when, s.time, at, s.list)
			}
		}
		if first > 0 {
			return
		}
		for i, want := range []string{"one", "one", "second-mArKeR", ""} {
			code := 200
			if want == "" {
				code = 404
			}
			text := c.must(t, code, "GET", fmt.Sprintf("%s/a?resourceVersion=%d&resourceVersionMatch=Exact", secrets, states[i].version), "")
			if got := secretValue(t, text); got != want {
				t.Errorf("%s: a is %q at version %d, want %q", when, got, states[i].version, want)
			}
		}
		var h struct {
			Items []struct {
				Type   string
				Time   time.Time
				Object json.RawMessage
			}
		}
		client.Decode(t, c.must(t, 200, "GET", secrets+"/a?history=true", ""), &h)
		var got []string
		for i, v := range h.Items {
			got = append(got, v.Type+" "+secretValue(t, string(v.Object)))
			if i > 0 && v.Time.After(h.Items[i-1].Time) {
				t.Errorf("%s: %s was after %s", when, v.Time, h.Items[i-1].Time)
			}
		}
		if want := []string{"DELETED second-mArKeR", "MODIFIED second-mArKeR", "ADDED one"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("before a restart", 0)
	p.Kill()
	p.Wait()
	p = serve()
	c = p.caller()
	check("after kill -9", 0)
	if files := grep(t, data, "second-mArKeR"); len(files) > 0 {
		t.Errorf("%q hold a Secret in clear", files)
	}
	for range 4 {
		grow()
	}
	// The segments with the first changes of b are gone, and b has not changed since.
	check("after segments were dropped", len(states))
	if text := c.must(t, 200, "GET", fmt.Sprintf("%s/b?resourceVersion=%d&resourceVersionMatch=Exact", secrets, states[1].version), ""); secretValue(t, text) != "other" {
		t.Errorf("an unchanged object is %s", text)
	}
	c.must(t, 410, "GET", fmt.Sprintf("%s/a?resourceVersion=%d&resourceVersionMatch=Exact", configMaps, 1), "")
	if text := c.must(t, 410, "GET", secrets+"/b?history=true", ""); !strings.Contains(text, noHistory) {
		t.Errorf("the history of an object without changes: %s", text)
	}
	p.Stop()
	mustCommand(t, "verify", "--data-dir", data)
	lines := string(must.Get(os.ReadFile(audit))(t))
	for _, uri := range []string{"/a?history=true", "?at=", "&resourceVersionMatch=Exact"} {
		if !strings.Contains(lines, uri) {
			t.Errorf("the audit log lacks %q", uri)
		}
	}
}

// TestHistoryOnEtcd checks that a server on etcd serves only history that is still in memory, and
// none by time. Other requests must fail with an explanation.
func TestHistoryOnEtcd(t *testing.T) {
	servers := strings.Join(etcdtest.Start(t, 1).URLs(), ",")
	client.InProfiles(t, func(t *testing.T, profile string) {
		dir := t.TempDir()
		serve := func(flags ...string) (*daemonProcess, caller) {
			p := serveProcess(t, dir, append(flags, "--naming", profile, "--etcd-servers", servers, "--etcd-prefix", dir, "--etcd-healthcheck-timeout", client.Watchdog.String())...)
			return p, p.caller()
		}
		p, c := serve()
		troupe := func(want int, args ...string) string {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), client.TroupeBinary(t), append(args, "--kubeconfig", p.Kubeconfig)...)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("troupe %q: %v, want exit code %d: %s", args, err, want, out)
			}
			return string(out)
		}
		first := must.Get(parse(c.must(t, 201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"v":"first"}}`)))(t).version()
		for range 4 {
			for _, manager := range []string{"ann", "bob"} {
				c.must(t, 200, "PATCH", configMaps+"/a?fieldManager="+manager, fmt.Sprintf(`{"data":{"v":%q}}`, manager))
			}
		}
		if got := troupe(0, "status", "--hot"); !strings.Contains(got, "configmaps/default/a") || !strings.Contains(got, ".data.v") || !strings.Contains(got, "ann") {
			t.Errorf("hot objects:\n%s", got)
		}
		c.must(t, 200, "DELETE", configMaps+"/a", "")
		c.must(t, 201, "POST", configMaps, client.ConfigMapText("b"))
		exact := fmt.Sprintf("?resourceVersion=%d&resourceVersionMatch=Exact", first)
		if got := strings.Fields(troupe(0, "history", "cm", "a", "-o", "jsonpath={.items[*].type}")); len(got) != 10 || got[0] != "DELETED" || got[9] != "ADDED" {
			t.Errorf("the history is %q", got)
		}
		if got := troupe(0, "history", "cm", "a", "--no-headers", "--limit=2"); !strings.Contains(got, "DELETED    -\n") || !strings.Contains(got, "MODIFIED   bob") {
			t.Errorf("the newest revisions are\n%s", got)
		}
		if got := troupe(0, "undelete", "cm", "a", "-o", "jsonpath={.data.v}"); !strings.Contains(got, "bob") {
			t.Errorf("the deleted object was %q", got)
		}
		if got := troupe(0, "get", "cm", "a", "--at", fmt.Sprint(first), "-o", "jsonpath={.metadata.resourceVersion}"); got != fmt.Sprint(first) {
			t.Errorf("at version %d: %q", first, got)
		}
		if got := c.must(t, 200, "GET", configMaps+exact, ""); strings.Count(got, `"uid"`) != 1 || !strings.Contains(got, `"name":"a"`) {
			t.Errorf("at version %d there is %s", first, got)
		}
		const onTimes = "at: a time needs the embedded journal; with etcd, use resourceVersion and resourceVersionMatch=Exact"
		if got := troupe(1, "get", "cm", "--at", time.Now().UTC().Format(time.RFC3339)); !strings.Contains(got, onTimes) {
			t.Errorf("a list at a time: %q", got)
		}
		p.Stop()
		p, c = serve("--watch-history-time=10ms")
		eventually(t, "the changes leave the memory", func() bool {
			_, got, err := c.do("GET", configMaps+"/b?history=true", "")
			return err == nil && strings.Contains(got, noHistory)
		})
		troupe(1, "history", "cm", "b")
		troupe(1, "history", "cm", "a")
		c.must(t, 410, "GET", configMaps+exact, "")
		c.must(t, 410, "GET", configMaps+"/a"+exact, "")
		if got := troupe(0, "status", "--hot"); got != "No object is rewritten repeatedly.\n" {
			t.Errorf("hot objects after a restart: %q", got)
		}
		p.Stop()
	})
}

func itemsOf(t *testing.T, list string) string {
	t.Helper()
	var l struct{ Items json.RawMessage }
	client.Decode(t, list, &l)
	return string(l.Items)
}

func secretValue(t *testing.T, text string) string {
	t.Helper()
	var s struct{ Data map[string][]byte }
	client.Decode(t, text, &s)
	return string(s.Data["v"])
}
