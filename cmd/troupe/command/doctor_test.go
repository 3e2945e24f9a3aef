package command

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
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
			if !remedy.MatchString(one.Advice) || one.Fine == "" {
				t.Errorf("the advice for %q has no command: %s", one.Fine, one.Advice)
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

// remedy matches advice with a command, which follows a colon.
var remedy = regexp.MustCompile(`(^Then |: |\()(troupe [a-z]+|kubectl [a-z]+|systemctl [a-z-]+|journalctl|chmod|cp|du|touch|sudo|timedatectl) `)

// wantRemedies checks that each finding in the output of troupe doctor has a command.
func wantRemedies(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if _, advice, ok := strings.Cut(line, "→ "); ok && !remedy.MatchString(advice) {
			t.Errorf("the advice has no command: %s", advice)
		}
	}
	if strings.Count(out, "→ ") != strings.Count(out, "FAULT  ")+strings.Count(out, "WARN   ") {
		t.Errorf("there is not one advice for each finding:\n%s", out)
	}
}

// writeCertificate writes a certificate as a file of a data directory.
func writeCertificate(t *testing.T, dir, name string, begin, end time.Time) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: end, IsCA: strings.HasSuffix(name, "ca.crt"), BasicConstraintsValid: true}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, key.Public(), key))(t)
	must.Succeed(t, os.MkdirAll(filepath.Join(dir, "pki"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "pki", name), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
}

// TestDoctorOfServers checks the findings about a server that does not respond as it should.
func TestDoctorOfServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		codes map[string]int // of paths; others get 200
		stop  bool
		want  string
	}{
		"fine":        {want: "ok     the server is ready"},
		"forbidden":   {codes: map[string]int{"/metrics": 403}, want: "--clusterrole=system:monitoring"},
		"not ready":   {codes: map[string]int{"/readyz": 500}, want: "the server is not ready"},
		"not running": {stop: true, want: "reading the metrics failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if code := c.codes[r.URL.Path]; code != 0 {
					w.WriteHeader(code)
				}
			}))
			defer s.Close()
			if c.stop {
				s.Close()
			}
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			must.Succeed(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
				"users": [{"name": "u", "user": {"token": "t"}}], "clusters": [{"name": "c", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}]}`, s.URL), 0o600))
			out, err := runDoctor(t, "--kubeconfig", kubeconfig)
			if !strings.Contains(out, c.want) || (err == nil) != (name == "fine") {
				t.Errorf("%v, printed\n%s, want %q", err, out, c.want)
			}
			wantRemedies(t, out)
		})
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
		}, ".journal", "troupe restore"},
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
		"a file": {func(t *testing.T, dir string) {
			must.Succeed(t, os.RemoveAll(dir))
			must.Succeed(t, os.WriteFile(dir, nil, 0o600))
		}, "it is not a directory", "troupe restore --data-dir NEW"},
		"an expired certificate": {func(t *testing.T, dir string) {
			writeCertificate(t, dir, "own.crt", time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
		}, "own.crt has expired", "troupe serve --data-dir"},
		"an expired CA": {func(t *testing.T, dir string) {
			writeCertificate(t, dir, "own-ca.crt", time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
		}, "own-ca.crt has expired", "touch "},
		"a wrong clock": {func(t *testing.T, dir string) {
			writeCertificate(t, dir, "own.crt", time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
		}, "own.crt is not valid before", "timedatectl set-ntp true"},
		"something else": {func(t *testing.T, dir string) {
			must.Succeed(t, os.Remove(filepath.Join(dir, "format")))
		}, "it holds no state", "troupe restore"},
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
			wantRemedies(t, out)
		})
	}
	onEtcd := fixture(t)
	for _, name := range []string{"format", "journal", "snapshots", "lock"} {
		must.Succeed(t, os.RemoveAll(filepath.Join(onEtcd, name)))
	}
	must.Succeed(t, os.Mkdir(filepath.Join(onEtcd, "etcd"), 0o700))
	if out, err := runDoctor(t, onEtcd); err != nil || !strings.Contains(out, "ok     its state is in etcd") {
		t.Errorf("the directory of a server on etcd: %v, printed\n%s", err, out)
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
