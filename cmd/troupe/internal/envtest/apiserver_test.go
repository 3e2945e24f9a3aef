package envtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// start runs the command with arguments, up to where it would serve, and returns what it would serve with, its log and its error.
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

// TestFlags: every flag of kube-apiserver is taken, and no flag is listed that it does not have. The list was made from its help.
func TestFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/kube-apiserver-1.35.3-flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]bool{}
	c := APIServer(nil)
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs[name] = true
		if c.Flags().Lookup(name) == nil {
			t.Errorf("--%s is not taken", name)
		}
	}
	for _, f := range daemon.UnsupportedFlags {
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
		level string // of the line that names the flag; "" for none
	}{
		"not given":                 {nil, ""},
		"no meaning":                {[]string{"--etcd-servers=http://127.0.0.1:1"}, ""},
		"no meaning, in detail":     {[]string{"--etcd-servers=http://127.0.0.1:1,http://127.0.0.1:2", "-v=2"}, "DEBUG"},
		"another version":           {[]string{"--version=v1.30.0"}, "WARN"},
		"not done":                  {[]string{"--tracing-config-file=x"}, "WARN"},
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
	if err != nil {
		t.Fatal(err)
	}
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

// TestCertDir: the certificate of --cert-dir serves unless a flag names another one, and nothing is written there.
func TestCertDir(t *testing.T) {
	dir := t.TempDir()
	config, _, err := start(t, "--cert-dir="+dir)
	if err != nil || config.TLS.CertFile != "" || config.TLS.CertDir != "" {
		t.Errorf("an empty directory: %+v, %v", config.TLS, err)
	}
	cert := filepath.Join(dir, "apiserver.crt")
	if err := os.WriteFile(cert, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	config, _, err = start(t, "--cert-dir="+dir)
	if err != nil || config.TLS.CertFile != cert || config.TLS.PrivateKeyFile != filepath.Join(dir, "apiserver.key") {
		t.Errorf("a certificate: %+v, %v", config.TLS, err)
	}
	config, _, err = start(t, "--cert-dir="+dir, "--tls-cert-file=a", "--tls-private-key-file=b")
	if err != nil || config.TLS.CertFile != "a" {
		t.Errorf("another one: %+v, %v", config.TLS, err)
	}
}

func TestProgram(t *testing.T) {
	fail := func(daemon.Config, io.Writer, io.Writer) error { return errors.New("it serves") }
	for name, want := range map[string]string{"/a/kube-apiserver": "kube-apiserver", "etcd": "etcd", "kubectl": "", "troupe": "", "/a/troupe": ""} {
		c := Program(name, fail)
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

// TestVersion checks that --version prints the version and serves nothing.
func TestVersion(t *testing.T) {
	for args, want := range map[string]string{"kube-apiserver --version": "Kubernetes v1.", "kube-apiserver --version=raw": "Kubernetes v1.", "etcd --version": "etcd Version: "} {
		name, flag, _ := strings.Cut(args, " ")
		c := Program(name, func(daemon.Config, io.Writer, io.Writer) error { return errors.New("it serves") })
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs([]string{flag})
		if err := c.Execute(); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %q, %v", args, out.String(), err)
		}
	}
}
