package clients

import (
	"crypto/tls"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

const sampleObjects = "/api/v1/namespaces/default/configmaps"

// slowMachine matches findings of troupe doctor about the machine of the test.
var slowMachine = regexp.MustCompile(`(?m)^WARN   .*( is on | are free on |a sync of the journal takes ).*\n.*→.*\n`)

// startSample starts a server with a file of docs/deploy/config. flags replace what depends on the
// machine.
func startSample(t *testing.T, name string, flags ...string) *client.Process {
	t.Helper()
	file := must.Get(filepath.Abs(folder + "config/" + name + ".yaml"))(t)
	cmd := exec.Command(client.TroupeBinary(t), append([]string{"serve", "--config", file, "--secure-port=0"}, flags...)...)
	cmd.Dir = t.TempDir()
	return client.StartDaemon(t, cmd)
}

func wantCode(t *testing.T, c *client.Client, path string, code int) {
	t.Helper()
	if answer, err := c.Get(t.Context(), path); err != nil || answer.Code != code {
		t.Errorf("%s: %v, %v, want %d", path, answer, err, code)
	}
}

// TestSampleConfigurations starts a server with each sample. The server must be healthy, accept
// writes, have no finding of troupe doctor, and stop cleanly.
func TestSampleConfigurations(t *testing.T) {
	t.Parallel()
	samples := must.Get(filepath.Glob(folder + "config/*.yaml"))(t)
	onEtcd := func(t *testing.T, dir string) []string {
		etcd := etcdtest.Start(t, 1)
		return []string{"--etcd-servers=" + etcd.URLs()[0], "--etcd-cafile=", "--etcd-certfile=", "--etcd-keyfile=", "--shutdown-delay-duration=0s", "--bind-address=127.0.0.1", "--data-dir=" + dir}
	}
	cases := map[string]struct {
		flags func(t *testing.T, dir string) []string
		check func(t *testing.T, p *client.Process, c *client.Client, dir string)
	}{
		"test-server": {
			func(*testing.T, string) []string { return nil },
			func(t *testing.T, p *client.Process, c *client.Client, _ string) {
				if !strings.HasSuffix(p.Kubeconfig, "/kubeconfig") {
					t.Errorf("the kubeconfig is %s", p.Kubeconfig)
				}
				wantCode(t, c, "/debug/faults", 200)
			},
		},
		"single-node": {
			func(_ *testing.T, dir string) []string {
				return []string{"--data-dir=" + dir, "--audit-log-path=" + dir + "/audit.log"}
			},
			func(t *testing.T, _ *client.Process, _ *client.Client, dir string) {
				if text := client.ReadFile(t, dir+"/audit.log"); !strings.Contains(string(text), `"configmaps"`) {
					t.Errorf("the audit log has no write: %s", text)
				}
			},
		},
		"etcd-replica": {
			onEtcd,
			func(t *testing.T, p *client.Process, _ *client.Client, dir string) {
				client.Eventually(t, func() error { // troupe doctor looks for the local copy
					_, err := os.Stat(dir + "/etcd")
					return err
				})
				var servers []string
				for _, arg := range p.Cmd.Args {
					if strings.HasPrefix(arg, "--etcd") {
						servers = append(servers, arg)
					}
				}
				other := startSample(t, "etcd-replica", append(servers, "--bind-address=127.0.0.1", "--shutdown-delay-duration=0s", "--data-dir="+t.TempDir()+"/data")...)
				c := must.Get(client.New(other.Kubeconfig))(t)
				defer c.Close()
				wantCode(t, c, sampleObjects+"/sample", 200)
				other.Stop()
			},
		},
		"nodes": {
			func(_ *testing.T, dir string) []string {
				return []string{"--data-dir=" + dir, "--bind-address=127.0.0.1"}
			},
			func(t *testing.T, p *client.Process, c *client.Client, dir string) {
				for _, file := range []string{"ca.crt", "ca.key", "sa.key", "apiserver-kubelet-client.crt", "front-proxy-ca.crt"} {
					client.ReadFile(t, dir+"/pki/"+file)
				}
				connection := must.Get(tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), c.Anonymous()))(t)
				defer connection.Close()
				ips := fmt.Sprint(connection.ConnectionState().PeerCertificates[0].IPAddresses)
				if !strings.Contains(ips, "10.96.0.1") {
					t.Errorf("the serving certificate is for %s, and lacks the address of the Service kubernetes", ips)
				}
				answer := must.Get(c.Get(t.Context(), "/api/v1/namespaces/default/services/kubernetes"))(t)
				if got := answer.Object().At("spec.clusterIP"); got != "10.96.0.1" {
					t.Errorf("the Service kubernetes has the address %v", got)
				}
				node := []byte(`{"metadata":{"name":"n"}}`)
				if answer := must.Get(c.Create(t.Context(), "/api/v1/nodes", node))(t); answer.Code != 201 {
					t.Error(answer)
				}
				client.Eventually(t, func() error {
					answer, err := c.Get(t.Context(), "/api/v1/nodes/n")
					if err == nil && !strings.HasPrefix(fmt.Sprint(answer.Object().At("spec.podCIDR")), "10.244.") {
						return &answer
					}
					return err
				})
			},
		},
	}
	if len(samples) != len(cases) {
		t.Errorf("%d cases for %q", len(cases), samples)
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			p := startSample(t, name, test.flags(t, dir)...)
			kubeconfig := p.Kubeconfig
			if !filepath.IsAbs(kubeconfig) {
				kubeconfig = filepath.Join(p.Cmd.Dir, kubeconfig)
			}
			c := must.Get(client.New(kubeconfig))(t)
			defer c.Close()
			for _, path := range []string{"/healthz", "/livez", "/readyz"} {
				wantCode(t, c, path, 200)
			}
			client.Eventually(t, func() error {
				answer, err := c.Create(t.Context(), sampleObjects, []byte(client.ConfigMapText("sample")))
				if err == nil && answer.Code != 201 {
					return &answer
				}
				return err
			})
			test.check(t, p, c, dir)
			args := []string{"doctor", "--kubeconfig", kubeconfig}
			if name != "test-server" {
				args = append(args, "--data-dir", dir)
			}
			out, err := exec.Command(client.TroupeBinary(t), args...).CombinedOutput()
			if text := slowMachine.ReplaceAllString(string(out), ""); err != nil || strings.Contains(text, "WARN") || strings.Contains(text, "FAULT") {
				t.Errorf("troupe doctor: %v\n%s", err, out)
			}
			p.Stop()
		})
	}
}
