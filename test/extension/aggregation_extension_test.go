package extension

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

var extension = client.NewShared(func() (string, error) {
	dir, err := client.SharedDir()
	if err != nil {
		return "", err
	}
	return client.Build(dir, "extension", "tools/extension", "")
})

// listen opens the extension server's listener, because the daemon needs the port number before
// that server starts.
func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener)
}

// startExtension starts the extension server and returns the CA of its serving certificate.
func startExtension(t *testing.T, l *net.TCPListener, kubeconfig string) (ca []byte) {
	t.Helper()
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(extension.Get(t), "-kubeconfig", kubeconfig, "-host", "metrics-server.kube-system.svc")
	cmd.Dir, cmd.ExtraFiles, cmd.Stderr = t.TempDir(), []*os.File{file}, t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have exited already, which Wait reports
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server of metrics: %v", err)
		}
	})
	if ca, err = io.ReadAll(out); err != nil {
		t.Fatal(err)
	}
	return ca
}

// A metricsSession is a daemon with the kubernetes naming profile, and a metrics server built on
// k8s.io/apiserver that authenticates as a service account.
type metricsSession struct {
	client.Session
	kubeconfig string
	config     *rest.Config
}

func openMetrics(t *testing.T) metricsSession {
	t.Helper()
	listener := listen(t)
	dir := t.TempDir()
	s := client.Open(t, func(c *daemon.Config) {
		c.Naming, c.DataDir = "kubernetes", dir
		c.Aggregation.ServiceResolver = []string{"metrics-server.kube-system=" + listener.Addr().String()}
	})
	kubeconfig := filepath.Join(dir, "admin.kubeconfig")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	m := metricsSession{s, kubeconfig, config}
	m.apply(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: metrics-server, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: metrics-server-auth-reader, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader}
subjects: [{kind: ServiceAccount, name: metrics-server, namespace: kube-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-server:system:auth-delegator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:auth-delegator"}
subjects: [{kind: ServiceAccount, name: metrics-server, namespace: kube-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics-reader}
rules: [{apiGroups: [metrics.k8s.io], resources: [nodes, pods], verbs: [get, list, watch, create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
`)
	client.Eventually(t, func() error {
		if a, err := s.Get(s.Ctx, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"); err != nil || a.Code != 200 {
			return fmt.Errorf("%v %v", a, err)
		}
		return nil
	})
	ca := startExtension(t, listener, m.accountKubeconfig())
	m.apply(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  group: metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  caBundle: ` + base64.StdEncoding.EncodeToString(ca) + `
  service: {name: metrics-server, namespace: kube-system}
`)
	if out := m.kubectl("", "wait", "--for=condition=Available", "--timeout=300s", "apiservice/v1beta1.metrics.k8s.io"); !strings.Contains(out, "condition met") {
		t.Fatal(out)
	}
	return m
}

func (m metricsSession) kubectl(stdin string, args ...string) string {
	m.T.Helper()
	home := m.T.TempDir()
	out, code, err := client.SharedWorkers(client.KubectlBinary(m.T)).Run(home, []string{"HOME=" + home, "KUBECONFIG=" + m.kubeconfig}, stdin, args...)
	if err != nil {
		m.T.Fatal(err)
	}
	if code != 0 {
		out += fmt.Sprintf("[exit status %d]", code)
	}
	return out
}

func (m metricsSession) apply(manifest string) {
	m.T.Helper()
	if out := m.kubectl(manifest, "apply", "-f", "-"); strings.Contains(out, "[") {
		m.T.Fatal(out)
	}
}

func (m metricsSession) accountKubeconfig() string {
	m.T.Helper()
	token := strings.TrimSpace(m.kubectl("", "-n", "kube-system", "create", "token", "metrics-server"))
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}], users: [{name: u, user: {token: %s}}]}`,
		m.URL, base64.StdEncoding.EncodeToString(m.config.CAData), token)
	path := filepath.Join(m.T.TempDir(), "account.kubeconfig")
	client.WriteFile(m.T, path, text)
	return path
}

// want checks that the output of a kubectl command, with runs of spaces collapsed, matches pattern.
func (m metricsSession) want(pattern string, args ...string) {
	m.T.Helper()
	out := strings.TrimSpace(regexp.MustCompile(` +`).ReplaceAllString(m.kubectl("", args...), " "))
	if !regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(out) {
		m.T.Errorf("kubectl %s prints\n%s\nwant %s", strings.Join(args, " "), out, pattern)
	}
}

// TestMetricsServer tests a server built on k8s.io/apiserver. All checks share it, because it
// starts slowly.
func TestMetricsServer(t *testing.T) {
	t.Parallel()
	m := openMetrics(t)
	for _, part := range []struct {
		name string
		test func(metricsSession)
	}{{"clients", testMetricsClients}, {"watch", testMetricsWatch}, {"documents", testMetricsDocuments}} {
		t.Run(part.name, func(t *testing.T) { m.T = t; part.test(m) })
	}
}

// testMetricsClients checks that kubectl discovers and uses the metrics server.
func testMetricsClients(m metricsSession) {
	m.Send(201, "POST", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods", client.JSON,
		`{"apiVersion":"metrics.k8s.io/v1beta1","kind":"PodMetrics","metadata":{"name":"web"},"containers":[{"name":"c"}]}`)

	m.want(`NAME CPU\(cores\) CPU\(%\) MEMORY\(bytes\) MEMORY\(%\) ?\nnode-1 125m 64Mi`, "top", "nodes")
	m.want(`NAME CPU\(cores\) MEMORY\(bytes\) ?\nweb 125m 64Mi`, "top", "pods")
	m.want(`nodes metrics.k8s.io/v1beta1 false NodeMetrics\npods metrics.k8s.io/v1beta1 true PodMetrics`, "api-resources", "--api-group=metrics.k8s.io", "--no-headers")
	m.want(`\{"kind":"PodMetricsList".*"name":"web".*\}`, "get", "--raw", "/apis/metrics.k8s.io/v1beta1/pods")
	m.want(`NAME CREATED AT\nweb .*`, "get", "pods.v1beta1.metrics.k8s.io")
	m.want(`GROUP: metrics.k8s.io\nKIND: NodeMetrics\nVERSION: v1beta1\n\nDESCRIPTION:\n NodeMetrics sets resource usage metrics.*window\s+<string>.*`, "explain", "nodes", "--api-version=metrics.k8s.io/v1beta1")
	m.want(`.*v1beta1.metrics.k8s.io kube-system/metrics-server True .*`, "get", "apiservices")
	m.want(`.*\(NotFound\): .*"nobody" not found\n\[exit status 1\]`, "get", "pods.v1beta1.metrics.k8s.io", "nobody")

	// Both servers authorize the request: the daemon before forwarding it, and the metrics server
	// with a SubjectAccessReview.
	m.want(`(?s).*web.*`, "get", "pods.v1beta1.metrics.k8s.io", "--as=jane")
	m.want(`.*Forbidden.*User "joe" cannot list resource "pods" in API group "metrics.k8s.io".*`, "get", "pods.v1beta1.metrics.k8s.io", "--as=joe")
	a := m.Send(201, "POST", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods", client.JSON,
		`{"apiVersion":"metrics.k8s.io/v1beta1","kind":"PodMetrics","metadata":{"name":"second"},"containers":[]}`)
	if creator := a.Object().Metadata()["annotations"].(map[string]any)["creator"]; creator != "kubernetes-admin" {
		m.T.Errorf("the server takes the user for %v", creator)
	}
}

// testMetricsWatch checks that a watch on the metrics server delivers events immediately.
func testMetricsWatch(m metricsSession) {
	resp := aggregationSession{m.Session}.request("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?watch=1")
	if resp.StatusCode != 200 {
		m.T.Fatal(resp.Status)
	}
	events := json.NewDecoder(resp.Body)
	for _, name := range []string{"a", "b"} {
		m.Send(201, "POST", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods", client.JSON,
			`{"apiVersion":"metrics.k8s.io/v1beta1","kind":"PodMetrics","metadata":{"name":"`+name+`"},"containers":[]}`)
		var event struct {
			Type   string
			Object client.Object
		}
		if err := events.Decode(&event); err != nil || event.Type != "ADDED" || event.Object.Name() != name {
			m.T.Fatalf("%v, %v", event, err)
		}
	}
}

// testMetricsDocuments checks that client libraries can read discovery and OpenAPI while another
// registered server is unavailable.
func testMetricsDocuments(m metricsSession) {
	m.apply(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.dead.example.com}, spec: {group: dead.example.com, version: v1,
		groupPriorityMinimum: 1, versionPriority: 1, service: {name: dead, namespace: default}}}`)
	c, err := discovery.NewDiscoveryClientForConfig(m.config)
	if err != nil {
		m.T.Fatal(err)
	}
	for name, legacy := range map[string]bool{"aggregated": false, "legacy": true} {
		c.UseLegacyDiscovery = legacy
		client.Eventually(m.T, func() error {
			groups, lists, err := c.ServerGroupsAndResources()
			failed, _ := err.(*discovery.ErrGroupDiscoveryFailed)
			if failed == nil || len(failed.Groups) != 1 || len(groups) < 20 {
				return fmt.Errorf("%s: %d groups, %v", name, len(groups), err)
			}
			for _, list := range lists {
				if list.GroupVersion == "metrics.k8s.io/v1beta1" && len(list.APIResources) == 2 {
					return nil
				}
			}
			return fmt.Errorf("%s: no metrics", name)
		})
	}
	client.Eventually(m.T, func() error {
		document, err := c.OpenAPISchema() // in Protobuf
		if err != nil {
			return err
		}
		if !hasPath(document, "/apis/metrics.k8s.io/v1beta1/nodes") || !hasPath(document, "/apis/apps/v1/deployments") {
			return fmt.Errorf("a path is missing")
		}
		if !hasDefinition(document, "io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics") {
			return fmt.Errorf("a definition is missing")
		}
		return nil
	})
	paths, err := c.OpenAPIV3().Paths()
	if err != nil {
		m.T.Fatal(err)
	}
	of := paths["apis/metrics.k8s.io/v1beta1"]
	if of == nil || paths["apis/apps/v1"] == nil {
		m.T.Fatalf("the index has %v", paths)
	}
	if text, err := of.Schema("application/json"); err != nil || !strings.Contains(string(text), "NodeMetrics sets resource usage metrics") {
		m.T.Errorf("%s, %v", text, err)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(m.Send(200, "GET", "/apis/metrics.k8s.io/v1beta1", "", "").Body, &list); err != nil || len(list.APIResources) != 2 {
		m.T.Errorf("%v, %v", list, err)
	}
}

func hasPath(d *openapiv2.Document, name string) bool {
	for _, p := range d.GetPaths().GetPath() {
		if p.GetName() == name || p.GetName() == name+"/" {
			return true
		}
	}
	return false
}

func hasDefinition(d *openapiv2.Document, name string) bool {
	for _, p := range d.GetDefinitions().GetAdditionalProperties() {
		if p.GetName() == name {
			return true
		}
	}
	return false
}
