package storage

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/certs"
	"github.com/troupe-api/troupe/test/client"
)

// TestRefusals checks the daemon's startup errors.
func TestRefusals(t *testing.T) {
	root := t.TempDir()
	used, other := filepath.Join(root, "used"), filepath.Join(root, "other")
	serveProcess(t, other).Stop()
	running := serveProcess(t, used)
	config := filepath.Join(root, "config.yaml")
	client.WriteFile(t, config, "serving: {securePort: 0, prot: 1}\n")
	state := filepath.Join(root, "state.backup")
	mustCommand(t, "backup", "--data-dir", other, state)
	broken := filepath.Join(root, "broken.backup")
	client.WriteFile(t, broken, "not a backup")
	serving := []string{"serve", "--secure-port", "0"}
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"second opener", append(serving, "--data-dir", used), "choose another directory with --data-dir"},
		{"port in use", []string{"serve", "--data-dir", filepath.Join(root, "port"), "--secure-port", running.URL[strings.LastIndex(running.URL, ":")+1:]}, "\nchoose another --secure-port (0 for a free port)"},
		{"backup of a directory in use", []string{"backup", "--data-dir", used, filepath.Join(root, "x")}, "with --kubeconfig"},
		{"backup to nowhere", []string{"backup", "--data-dir", other}, "backup needs exactly one FILE, got 0"},
		{"another profile", append(serving, "--data-dir", other, "--naming", "kubernetes"), "naming profile platform"},
		{"unknown profile", append(serving, "--data-dir", other, "--naming", "neutral"), `"neutral"`},
		{"unknown key", append(serving, "--data-dir", other, "--config", config), `"serving.prot"`},
		{"no config", append(serving, "--config", config+"x"), "--config: open " + config + "x"},
		{"unknown flag", append(serving, "--port", "1"), "--port"},
		{"bad value", append(serving, "--data-dir", other, "--request-timeout", "0s"), "request-timeout"},
		{"kubeconfig nowhere", append(serving, "--ephemeral", "--write-kubeconfig", filepath.Join(root, "nowhere", "kubeconfig")), "--write-kubeconfig: open " + root},
		{"address of another machine", append(serving, "--ephemeral", "--bind-address", "192.0.2.1"), "\nchoose another --bind-address\n"},
		{"port in use, of a fork", []string{"fork", state, "--secure-port", running.URL[strings.LastIndex(running.URL, ":")+1:]}, "\nchoose another --secure-port (0 for a free port)"},
		{"verify of a backup", []string{"verify", state}, state + " is a file, not a data directory"},
		{"restore over data", []string{"restore", "--data-dir", other, state}, "not empty"},
		{"restore of rubbish", []string{"restore", "--data-dir", filepath.Join(root, "new"), broken}, "backup is damaged"},
		{"two sources", []string{"backup", "--data-dir", other, "--kubeconfig", running.Kubeconfig, state}, "kubeconfig"},
	} {
		code, text := command(t, test.args...)
		if code != 1 || !strings.Contains(text, test.says) {
			t.Errorf("%s: exit status %d, want 1 and %q in\n%s", test.name, code, test.says, text)
		}
	}
	running.caller().must(t, 200, "GET", configMaps, "")
	running.Stop()
	serveProcess(t, other).Stop()
}

// TestDamageIsNamed checks that a flipped bit prevents startup. The error must contain the corrupt
// file and suggest troupe restore.
func TestDamageIsNamed(t *testing.T) {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"))
	for n := range 10 {
		p.caller().must(t, 201, "POST", configMaps, numberedConfigMap("c"+string(rune('a'+n)), n))
	}
	p.Stop()
	files, err := filepath.Glob(filepath.Join(p.dir, "journal", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	data := client.ReadFile(t, files[0])
	data[200] ^= 4
	client.WriteFile(t, files[0], data)
	for _, args := range [][]string{{"serve", "--secure-port", "0", "--data-dir", p.dir}, {"verify", "--data-dir", p.dir}} {
		code, text := command(t, args...)
		if code != 1 {
			t.Errorf("%s: exit status %d\n%s", args[0], code, text)
		}
		if args[0] == "serve" && (!strings.Contains(text, filepath.Base(files[0])) || !strings.Contains(text, "troupe restore")) {
			t.Errorf("the damaged file is not named, or what to do:\n%s", text)
		}
	}
}

// TestCertificatesAreRenewed checks that startup renews certificates that expire soon, with the
// same CA.
func TestCertificatesAreRenewed(t *testing.T) {
	dir, pki := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "pki")
	aged := time.Now().Add(-340 * 24 * time.Hour)
	old := must.Get(certs.Store{Dir: pki, Now: func() time.Time { return aged }}.Ensure([]string{"localhost", "127.0.0.1"}))(t)
	p := serveProcess(t, dir, "--cert-dir", pki)
	config := adminTLS(t, dir)
	conn := must.Get(tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), config))(t)
	served := conn.ConnectionState().PeerCertificates[0]
	_ = conn.Close()
	soon := time.Now().Add(300 * 24 * time.Hour)
	if served.Equal(old.Server.Cert) || served.NotAfter.Before(soon) {
		t.Errorf("served: valid until %v", served.NotAfter)
	}
	admin, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil || admin.NotAfter.Before(soon) {
		t.Errorf("administrator: valid until %v, %v", admin.NotAfter, err)
	}
	if err := served.CheckSignatureFrom(old.CA.Cert); err != nil {
		t.Errorf("the CA has changed: %v", err)
	}
	p.caller().must(t, 200, "GET", configMaps, "")
	mustCommand(t, "backup", "--kubeconfig", p.Kubeconfig, filepath.Join(t.TempDir(), "b"))
	p.Stop()
}
