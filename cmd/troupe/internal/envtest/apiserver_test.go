package envtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/version"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
)

// start runs the command APIServer without starting a daemon. It returns the daemon's
// configuration, the log and the error.
func start(t *testing.T, args ...string) (daemon.Config, string, error) {
	t.Helper()
	var config daemon.Config
	var log bytes.Buffer
	c := APIServer(func(given daemon.Config, _, _ io.Writer) error {
		config = given
		return given.Validate()
	})
	c.SetErr(&log)
	c.SetOut(&log)
	c.SetArgs(append([]string{"--exit-with-parent=false"}, args...))
	err := c.Execute()
	return config, log.String(), err
}

func TestFlags(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/kube-apiserver-1.37.2-flags.txt"))(t)
	theirs := map[string]bool{}
	c := APIServer(nil)
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs[name] = true
		if c.Flags().Lookup(name) == nil {
			t.Errorf("--%s is not taken", name)
		}
	}
	for _, f := range daemon.UnsupportedFlags() {
		if !theirs[f.Name] && !f.Controller {
			t.Errorf("kube-apiserver has no --%s", f.Name)
		}
	}
	if help := c.Flags().FlagUsages(); strings.Contains(help, "insecure-port") {
		t.Error("envtest would take this for a release before 1.20")
	}
}

func TestIgnoredFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		level string // level of the log line that names the flag; "" for none
	}{
		"not given":                 {nil, ""},
		"no meaning":                {[]string{"--etcd-servers=http://127.0.0.1:1"}, ""},
		"no meaning, in detail":     {[]string{"--etcd-servers=http://127.0.0.1:1,http://127.0.0.1:2", "-v=2"}, "DEBUG"},
		"not done":                  {[]string{"--egress-selector-config-file=x"}, "WARN"},
		"nothing asked for":         {[]string{"--allow-privileged=true"}, ""},
		"nothing asked for, either": {[]string{"--allow-privileged"}, ""},
		"asked for":                 {[]string{"--allow-privileged=false"}, "WARN"},
		"several times":             {[]string{"--etcd-servers=http://a", "--etcd-servers=http://b", "--v=3"}, "DEBUG"},
	} {
		_, log, err := start(t, test.args...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		switch lines := strings.Count(log, "\n"); {
		case test.level == "" && log != "", test.level != "" && (lines != 1 || !strings.Contains(log, "level="+test.level) || !strings.Contains(log, strings.TrimSuffix(test.args[0], "="))) && !strings.Contains(log, "flag=--"):
			t.Errorf("%s: the log has %d lines:\n%s", name, lines, log)
		}
	}
	for _, arg := range []string{"--watch-cache=maybe", "--delete-collection-workers=a", "--goaway-chance=x", "--livez-grace-period=1", "--no-such-flag", "--controllers=none-such"} {
		if _, _, err := start(t, arg); err == nil {
			t.Errorf("%s is taken", arg)
		}
	}
}

func TestSettings(t *testing.T) {
	config, _, err := start(t)
	must.Succeed(t, err)
	if !config.Ephemeral || config.Naming != "kubernetes" || !config.Controllers.Runs("garbage-collector-controller", config.Naming) || config.Controllers.Runs("serviceaccount-controller", config.Naming) {
		t.Errorf("by default: %+v", config)
	}
	config, _, err = start(t, "--enable-garbage-collector=false")
	if err != nil || config.Controllers.Runs("garbage-collector-controller", config.Naming) {
		t.Errorf("garbage is collected: %v", err)
	}
	config, log, err := start(t, "--runtime-config=apps/v1=false,resource.k8s.io/v1alpha3=true,api/alpha=true")
	if err != nil || len(config.API.RuntimeConfig) != 2 || !strings.Contains(log, "resource.k8s.io/v1alpha3") {
		t.Errorf("versions: %v %v\n%s", config.API.RuntimeConfig, err, log)
	}
}

// TestCertDir checks that --cert-dir reuses or creates a serving certificate, unless another flag
// specifies one.
func TestCertDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	cert, key := filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	config, _, err := start(t, "--cert-dir="+dir, "--secure-port=0")
	if err != nil || config.TLS.CertFile != cert || config.TLS.PrivateKeyFile != key || config.TLS.CertDir != "" {
		t.Fatalf("an empty directory: %+v, %v", config.TLS, err)
	}
	first := serve(t, config, cert)
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		t.Error(err)
	}
	if config, _, err = start(t, "--cert-dir="+dir, "--secure-port=0"); err != nil {
		t.Fatal(err)
	}
	if again := serve(t, config, cert); !again.Equal(first) {
		t.Error("the second start served another certificate")
	}
	config, _, err = start(t, "--cert-dir="+dir, "--tls-cert-file=a", "--tls-private-key-file=b")
	if err != nil || config.TLS.CertFile != "a" || config.TLS.WriteFiles {
		t.Errorf("another one: %+v, %v", config.TLS, err)
	}
}

func startDaemon(t *testing.T, config daemon.Config) *daemon.Daemon {
	t.Helper()
	d, err := daemon.New(config, io.Discard)
	if err == nil {
		err = d.Start()
	}
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func serve(t *testing.T, config daemon.Config, ca string) *x509.Certificate {
	t.Helper()
	d := startDaemon(t, config)
	text := must.Get(os.ReadFile(ca))(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	connection := must.Get(tls.Dial("tcp", strings.TrimPrefix(d.URL(), "https://"), &tls.Config{RootCAs: pool, ServerName: "localhost"}))(t)
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0]
}

func TestProgram(t *testing.T) {
	fail := func(daemon.Config, io.Writer, io.Writer) error { return errors.New("it serves") }
	for name, want := range map[string]string{"/a/kube-apiserver": "kube-apiserver", "etcd": "etcd", "kubectl": "", "troupe": "", "/a/troupe": ""} {
		c := Program([]string{name}, fail)
		if got := ""; c != nil {
			got = c.Name()
			if got != want {
				t.Errorf("%s is %q", name, got)
			}
		} else if want != "" {
			t.Errorf("%s is nothing", name)
		}
	}
}

func TestVersion(t *testing.T) {
	own := daemon.GitVersion()
	for args, want := range map[string]string{
		"kube-apiserver --version": "Kubernetes " + own + "\n", "kube-apiserver --version=raw": "Kubernetes " + own + "\n",
		"kube-apiserver --version=1": "Kubernetes " + own + "\n", "etcd --version": "etcd Version: " + version.Version + "\n",
	} {
		c := Program(strings.Fields(args), func(daemon.Config, io.Writer, io.Writer) error { return errors.New("it serves") })
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Execute(); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %q, %v", args, out.String(), err)
		}
	}
	core, _, _ := strings.Cut(own, "+")
	for version, want := range map[string]string{own + "-custom": own + "-custom", core: core, core + "-rc.1": core + "-rc.1", "false": ""} {
		if config, _, err := start(t, "--version="+version); err != nil || config.GitVersion != want {
			t.Errorf("--version=%s: reports %q, %v", version, config.GitVersion, err)
		}
	}
	for _, version := range []string{"v1.2.3", core + "0", "v", "other"} {
		if _, _, err := start(t, "--version="+version); err == nil {
			t.Errorf("--version=%s was accepted", version)
		}
	}
	config, _, err := start(t, "--version="+own+"-custom", "--secure-port=0")
	must.Succeed(t, err)
	if got := reported(t, config); got != own+"-custom" {
		t.Errorf("/version reports %q", got)
	}
}

func reported(t *testing.T, config daemon.Config) string {
	t.Helper()
	d := startDaemon(t, config)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response := must.Get(client.Get(d.URL() + "/version"))(t)
	defer response.Body.Close()
	var version struct{ GitVersion string }
	must.Succeed(t, json.NewDecoder(response.Body).Decode(&version))
	return version.GitVersion
}
