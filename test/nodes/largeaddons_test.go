//go:build addons

package nodes

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

func init() {
	addonPrograms = append(addonPrograms,
		"certmanager/cert-manager-controller", "certmanager/cert-manager-webhook", "certmanager/cert-manager-cainjector",
		"flux/source-controller", "flux/kustomize-controller",
		"prometheusoperator/prometheus-operator", "prometheusoperator/prometheus-config-reloader", "prometheusoperator/prometheus",
		"traefik/traefik", "../helm/helm")
}

// inNamespace returns the objects of a file in testdata in the test's namespace.
func inNamespace(t *testing.T, file, ns string) string {
	t.Helper()
	return strings.ReplaceAll(string(client.ReadFile(t, filepath.Join("testdata", file))), "NAMESPACE", ns)
}

// TestCertManager installs the chart of cert-manager with Helm, and has certificates issued and
// invalid ones rejected.
func TestCertManager(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	dir, chart := addonDir(t, "certmanager", "github.com/cert-manager/cert-manager"), t.TempDir()
	must.Succeed(t, os.CopyFS(chart, os.DirFS(filepath.Join(dir, "deploy/charts/cert-manager"))))
	must.Succeed(t, os.WriteFile(filepath.Join(chart, "Chart.yaml"), client.ReadFile(t, filepath.Join(chart, "Chart.template.yaml")), 0o600))
	for _, crd := range must.Get(filepath.Glob(filepath.Join(dir, "deploy/crds/*.yaml")))(t) {
		must.Succeed(t, os.WriteFile(filepath.Join(chart, "templates", filepath.Base(crd)), client.ReadFile(t, crd), 0o600))
	}
	args := []string{"--kubeconfig", cluster.Kubeconfig, "install", "cert-manager", chart, "--namespace", "cert-manager", "--create-namespace", "--set", "startupapicheck.enabled=false"}
	for _, image := range []string{"image", "webhook.image", "cainjector.image"} {
		args = append(args, "--set", image+".tag=v1.11.5")
	}
	helm := filepath.Join(filepath.Dir(cluster.Kubectl), "helm")
	if out, err := exec.CommandContext(t.Context(), helm, args...).CombinedOutput(); err != nil {
		t.Fatalf("helm install: %v\n%s", err, out)
	}
	for _, name := range []string{"cert-manager", "cert-manager-webhook", "cert-manager-cainjector"} {
		kubectl(t, "-n", "cert-manager", "rollout", "status", "deployment/"+name, "--timeout=5m")
	}
	issuers := inNamespace(t, "certificates.yaml", ns)
	client.Eventually(t, func() error { // until cainjector has set the CA of the webhook
		_, err := cluster.RunWith(issuers, "apply", "-f", "-")
		return err
	})
	kubectl(t, "-n", ns, "wait", "--for=condition=Ready", "certificate/root", "certificate/web", "--timeout=5m")
	pair := func(secret, file string) []byte {
		text := kubectl(t, "-n", ns, "get", "secret", secret, "-o", "jsonpath={.data."+strings.ReplaceAll(file, ".", `\.`)+"}")
		return must.Get(base64.StdEncoding.DecodeString(text))(t)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pair("root", "tls.crt"))
	block, _ := pem.Decode(pair("web", "tls.crt"))
	leaf := must.Get(x509.ParseCertificate(block.Bytes))(t)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "web.example.com"}); err != nil {
		t.Error(err)
	}
	if out, err := cluster.Run("-n", ns, "patch", "certificate", "web", "--type=merge", "-p", `{"spec":{"renewBefore":"9000h"}}`); err == nil || !strings.Contains(out, "spec.renewBefore") {
		t.Errorf("a certificate that is never valid: %v %s", err, out)
	}
}

// TestFlux checks that Flux applies an artifact of the registry, updates it and prunes it.
func TestFlux(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, name := range []string{"source-controller", "kustomize-controller"} {
		dir := t.TempDir()
		must.Succeed(t, os.CopyFS(dir, os.DirFS(filepath.Join(addonDir(t, "flux", "github.com/fluxcd/"+name), "config"))))
		file := filepath.Join(dir, "default/kustomization.yaml")
		var local []string // without URLs, which name the manifests of source-controller
		for line := range strings.Lines(string(client.ReadFile(t, file))) {
			if !strings.Contains(line, "https://") {
				local = append(local, line)
			}
		}
		must.Succeed(t, os.WriteFile(file, []byte(strings.Join(local, "")), 0o600))
		kubectl(t, "apply", "--server-side", "-k", filepath.Dir(file))
		kubectl(t, "-n", strings.Replace(name, "controller", "system", 1), "rollout", "status", "deployment/"+name, "--timeout=5m")
	}
	apply(t, inNamespace(t, "flux.yaml", ns))
	kubectl(t, "-n", ns, "wait", "--for=condition=Ready", "kustomization/app", "--timeout=5m")
	if got := kubectl(t, "-n", ns, "get", "configmaps", "-l", "app", "-o", "jsonpath={.items[*].metadata.name} {.items[*].data.version}"); got != "first second 1 1" {
		t.Errorf("applied: %s", got)
	}
	kubectl(t, "-n", ns, "patch", "ocirepository", "app", "--type=merge", "-p", `{"spec":{"ref":{"tag":"v2"}}}`)
	client.Eventually(t, func() error {
		got := kubectl(t, "-n", ns, "get", "configmaps", "-l", "app", "-o", "jsonpath={.items[*].metadata.name} {.items[*].data.version}")
		if got != "first 2" {
			return fmt.Errorf("after the update: %s", got)
		}
		return nil
	})
	kubectl(t, "-n", ns, "delete", "kustomization", "app")
	eventually(t, "No resources found", "-n", ns, "get", "configmaps", "-l", "app")
}

// TestPrometheusOperator checks that prometheus-operator runs a Prometheus, which scrapes what a
// ServiceMonitor selects and answers through the API server's proxy.
func TestPrometheusOperator(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	kubectl(t, "apply", "--server-side", "-f", filepath.Join(addonDir(t, "prometheusoperator", "github.com/prometheus-operator/prometheus-operator"), "bundle.yaml"))
	kubectl(t, "rollout", "status", "deployment/prometheus-operator", "--timeout=5m")
	apply(t, inNamespace(t, "prometheus.yaml", ns))
	client.Eventually(t, func() error {
		out, err := cluster.Run("get", "--raw", "/api/v1/namespaces/"+ns+"/services/prometheus-operated:web/proxy/api/v1/query?query=up")
		if err == nil && !strings.Contains(out, `"job":"prometheus-operated"`) {
			err = fmt.Errorf("up: %s", out)
		}
		return err
	})
	kubectl(t, "-n", ns, "wait", "--for=condition=Available", "prometheus/metrics", "--timeout=5m")
}

// TestTraefik checks that Traefik routes requests as Ingresses declare.
func TestTraefik(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, inNamespace(t, "traefik.yaml", ns))
	if _, err := cluster.RunWith(web(), "-n", ns, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", ns, "rollout", "status", "deployment/traefik", "deployment/web", "--timeout=5m")
	pod := strings.Fields(kubectl(t, "-n", ns, "get", "pods", "-l", "app=web", "-o", "name"))[0]
	get := func(host, path string) string {
		out, err := cluster.Run("-n", ns, "exec", pod, "--", "curl", "-sS", "--max-time", "5", "-H", "Host: "+host, "http://traefik"+path)
		if err != nil {
			return err.Error()
		}
		return out
	}
	client.Eventually(t, func() error {
		if out := get("web.example.com", "/hostname"); !strings.HasPrefix(out, "web-") {
			return fmt.Errorf("web.example.com: %s", out)
		}
		return nil
	})
	if out := get("other.example.com", "/hostname"); !strings.Contains(out, "404") {
		t.Errorf("other.example.com: %s", out)
	}
	address := kubectl(t, "get", "node", cluster.Machines[0].Name, "-o", "jsonpath={.status.addresses[0].address}")
	eventually(t, address, "-n", ns, "get", "ingress", "web", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}")
}
