package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// TestSymptoms checks that each symptom has advice and is reported only if the metrics show it.
func TestSymptoms(t *testing.T) {
	const healthy = `apiserver_request_total{verb="GET",code="200"} 1000
process_open_fds 10
process_max_fds 1000
troupe_journal_sync_total 100
troupe_journal_sync_seconds_total 0.1
`
	ill := map[string]string{
		"the disk is full: only deletes are accepted":                     "troupe_disk_full 1",
		"2 stored objects are unreadable: pods default/a, pods default/b": "troupe_unreadable_objects 2\ntroupe_unreadable_object{object=\"pods default/a\"} 1\ntroupe_unreadable_object{object=\"pods default/b\"} 1",
		"3 actors panicked since the start":                               "troupe_actor_panics_total 3",
		"4 snapshots failed since the start":                              "troupe_snapshot_failures_total 4",
		"a sync of the journal takes 50ms on average":                     "troupe_journal_sync_seconds_total 5",
		"1,001 writes wait for their commit":                              "troupe_commit_queue_depth 1001",
		"memory was scarce: 7 requests were rejected since the start":     "troupe_memory_refused_total 7",
		"801 of 1,000 file descriptors are open":                          "process_open_fds 801",
		"1 requests failed with 500 since the start":                      `apiserver_request_total{verb="PUT",code="500"} 1`,
		"11 of 1,011 requests were rejected with 429 since the start":     `apiserver_request_total{verb="PUT",code="429"} 11`,
		"1 watches expired (410) since the start and had to list again":   `apiserver_request_total{verb="WATCH",code="410"} 1`,
		"5 audit events were lost since the start":                        `apiserver_audit_error_total{plugin="log"} 5`,
		"2 calls of admission webhooks failed since the start":            `apiserver_admission_webhook_rejection_count{name="a",error_type="calling_webhook_error"} 2` + "\n" + `apiserver_request_total{verb="PUT",code="500"} 2`,
		"unavailable APIServices: v1.a":                                   `aggregator_unavailable_apiservice{name="v1.a"} 1`,
	}
	found := func(text string) (all []string) {
		s := read(t, text, time.Now())
		for _, one := range symptoms() {
			if label := s.fill(one.Find, nil); label != "" {
				all = append(all, label)
			}
			if one.Advice == "" || one.Fine == "" {
				t.Errorf("%q has no advice", one.Fine)
			}
		}
		return all
	}
	if all := found(healthy); all != nil {
		t.Errorf("a healthy daemon shows %q", all)
	}
	if len(ill) != len(symptoms()) {
		t.Errorf("%d cases for %d symptoms", len(ill), len(symptoms()))
	}
	for want, metrics := range ill {
		if all := found(healthy + metrics + "\n"); len(all) != 1 || all[0] != want {
			t.Errorf("%s: found %q, want %q", metrics, all, want)
		}
	}
}

// runDoctor returns the output of troupe doctor without machine-dependent parts.
func runDoctor(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetArgs(append([]string{"doctor"}, args...))
	c.SetOut(&out)
	err := c.Execute()
	return regexp.MustCompile(`has [0-9.]+ [A-Za-z]+ left`).ReplaceAllString(out.String(), "has room left"), err
}

func TestDoctorDefaults(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Chdir(t.TempDir())
	if _, err := runDoctor(t); err == nil || !strings.Contains(err.Error(), "give a data directory") {
		t.Errorf("without a server: %v", err)
	}
	must.Succeed(t, os.Mkdir("troupe-data", 0o700))
	must.Succeed(t, os.WriteFile("troupe-data/admin.kubeconfig", []byte(`{"contexts": [], "current-context": "none"}`), 0o600))
	if _, err := runDoctor(t); err == nil || !strings.Contains(err.Error(), "troupe-data/admin.kubeconfig") {
		t.Errorf("with troupe-data: %v", err)
	}
}

func TestDoctorOfDirectories(t *testing.T) {
	fixture := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "data")
		must.Succeed(t, os.CopyFS(dir, os.DirFS("../../../persist/testdata/format1/closed")))
		must.Succeed(t, os.Chmod(dir, 0o700))
		return dir
	}
	change := func(t *testing.T, file string, f func([]byte) []byte) {
		t.Helper()
		matches, err := filepath.Glob(file)
		if err != nil || len(matches) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		text := must.Get(os.ReadFile(matches[0]))(t)
		must.Succeed(t, os.WriteFile(matches[0], f(text), 0o600))
	}
	for name, c := range map[string]struct {
		harm   func(t *testing.T, dir string)
		want   string // part of the output; "" for no symptom
		advice string
	}{
		"nothing": {func(*testing.T, string) {}, "", ""},
		"readable by others": {func(t *testing.T, dir string) {
			must.Succeed(t, os.Chmod(dir, 0o755))
		}, "other users may read it (mode 0755)", "chmod 0700"},
		"a flipped bit": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "journal", "*.journal"), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, ".journal", "restore a backup"},
		"a restore that did not finish": {func(t *testing.T, dir string) {
			must.Succeed(t, os.WriteFile(filepath.Join(dir, "restoring"), nil, 0o600))
		}, "a restore is incomplete", "troupe restore --data-dir"},
		"no certificate": {func(t *testing.T, dir string) {
			must.Succeed(t, os.MkdirAll(filepath.Join(dir, "pki"), 0o700))
			must.Succeed(t, os.WriteFile(filepath.Join(dir, "pki", "server.crt"), []byte("x"), 0o600))
		}, "server.key is missing beside", "the server issues a new pair"},
		"nothing there": {func(t *testing.T, dir string) {
			must.Succeed(t, os.RemoveAll(dir))
		}, "the directory does not exist", "on first start"},
		"something else": {func(t *testing.T, dir string) {
			must.Succeed(t, os.Remove(filepath.Join(dir, "format")))
		}, "it holds no state", "restore a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fixture(t)
			c.harm(t, dir)
			out, err := runDoctor(t, "--data-dir", dir)
			if (err != nil) != (c.want != "") || strings.Contains(out, "FAULT") != (c.want != "") {
				t.Errorf("%v, printed\n%s", err, out)
			}
			if !strings.Contains(out, c.want) || !strings.Contains(out, c.advice) {
				t.Errorf("printed\n%s, want %q and %q", out, c.want, c.advice)
			}
		})
	}
	t.Setenv("KUBECONFIG", "")
	if _, err := runDoctor(t); err == nil {
		t.Error("without anything to look at it looks at something")
	}
	dir := fixture(t)
	if out, err := runDoctor(t, dir); err != nil || !strings.HasPrefix(out, "directory "+dir) {
		t.Errorf("%v, printed\n%s", err, out)
	}
	if _, err := runDoctor(t, dir, "--data-dir", dir); err == nil {
		t.Error("two directories are accepted")
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	if out, err := runDoctor(t, dir); err != nil {
		t.Errorf("a directory counts more than KUBECONFIG: %v, printed\n%s", err, out)
	}
	if _, err := runDoctor(t); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "none")+": the file does not exist") {
		t.Errorf("KUBECONFIG without a file: %v", err)
	}
}
