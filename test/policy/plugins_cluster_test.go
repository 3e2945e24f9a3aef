package policy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// pluginTestCluster is a daemon that knows its users by tokens. What it is sent, and what is expected of it, is written
// in the names of the platform profile.
type pluginTestCluster struct {
	*client.Server
	t         *testing.T
	transport *http.Transport // presents no certificate
	profile   string
	logs      *logBuffer
}

// inProfilesPlugins runs a test in both naming profiles.
func inProfilesPlugins(t *testing.T, change func(*daemon.Config), users []testUser, test func(c *pluginTestCluster)) {
	t.Parallel()
	for _, profile := range []string{"platform", "kubernetes"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			test(newTestClusterPlugins(t, profile, change, users...))
		})
	}
}

// newTestClusterPlugins starts a daemon with roles; change may be nil. The user root may do everything.
func newTestClusterPlugins(t *testing.T, profile string, change func(*daemon.Config), users ...testUser) *pluginTestCluster {
	t.Helper()
	dir := t.TempDir()
	var tokens strings.Builder
	for _, u := range append(users, testUser{"root", "system:masters"}) {
		tokens.WriteString("token-of-" + u.name + "," + u.name + ",,\"" + u.groups + "\"\n")
	}
	file := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(file, []byte(tokens.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Naming = filepath.Join(dir, "data"), 0, profile
	config.Authentication.TokenAuthFile = file
	if change != nil {
		change(&config)
	}
	c := &pluginTestCluster{t: t, profile: profile, logs: &logBuffer{}}
	c.Server = client.ServeConfig(t, config, c.logs)
	c.transport = client.Transport(t, c.Anonymous())
	return c
}

// pluginKubernetesNames are the names that occur here, in the other profile; those that begin like others come first.
var pluginKubernetesNames = strings.NewReplacer(
	"platform.io/apiserver-client-node", "kubernetes.io/kube-apiserver-client-kubelet",
	"platform.io/apiserver-client", "kubernetes.io/kube-apiserver-client",
	"platform.io/node-serving", "kubernetes.io/kubelet-serving",
	"storageclass.platform.io", "storageclass.kubernetes.io",
	"ingressclass.platform.io", "ingressclass.kubernetes.io",
	"rbac.authorization.platform.io", "rbac.authorization.k8s.io",
	"storage.platform.io", "storage.k8s.io",
	"networking.platform.io", "networking.k8s.io",
	"certificates.platform.io", "certificates.k8s.io",
	"coordination.platform.io", "coordination.k8s.io",
	"apiextensions.platform.io", "apiextensions.k8s.io",
	"resource.platform.io/admin-access", "resource.kubernetes.io/admin-access",
	"resource.platform.io", "resource.k8s.io",
	"events.platform.io", "events.k8s.io",
	"eventratelimit.admission.platform.io", "eventratelimit.admission.k8s.io",
	"apiserver.config.platform.io", "apiserver.config.k8s.io",
	"platform-node-lease", "kube-node-lease",
	"platform.io", "kubernetes.io",
)

// named is a text in the names of the profile.
func (c *pluginTestCluster) named(text string) string {
	if c.profile == "platform" {
		return text
	}
	return pluginKubernetesNames.Replace(text)
}

// do sends a request of a user.
func (c *pluginTestCluster) do(user, method, path, body string) client.Answer {
	c.t.Helper()
	contentType := client.JSON
	if method == http.MethodPatch {
		contentType = client.MergePatch
	}
	return client.Exchange(c.t, c.transport, method, c.URL+c.named(path), c.named(body), "Content-Type: "+contentType, "Authorization: Bearer token-of-"+user)
}

// expect sends a request, and checks the code of the answer and that it holds some texts.
func (c *pluginTestCluster) expect(user, method, path, body string, code int, texts ...string) client.Answer {
	c.t.Helper()
	answer := c.do(user, method, path, body)
	if answer.Code != code {
		c.t.Errorf("%s %s of %s: got %s, want %d", method, path, user, answer, code)
	}
	for _, text := range texts {
		quoted := strings.ReplaceAll(c.named(text), `"`, `\"`)
		if body := string(answer.Body); !strings.Contains(body, c.named(text)) && !strings.Contains(body, quoted) {
			c.t.Errorf("%s %s of %s: got %s, want %s", method, path, user, answer, text)
		}
	}
	return answer
}

// must creates an object as root.
func (c *pluginTestCluster) must(path, body string) client.Object {
	c.t.Helper()
	return c.expect("root", "POST", path, body, http.StatusCreated).Object()
}

const rbac = "/apis/rbac.authorization.platform.io/v1"

// grant gives a user a rule, in all namespaces.
func (c *pluginTestCluster) grant(user, name, rule string) {
	c.t.Helper()
	c.must(rbac+"/clusterroles", `{"metadata":{"name":"`+name+`"},"rules":[`+rule+`]}`)
	c.must(rbac+"/clusterrolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"`+name+`"},`+
		`"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"`+user+`"}]}`)
}

// logBuffer is what the daemon logs.
type logBuffer struct{ client.Log }

// lines are those that hold a text.
func (l *logBuffer) lines(text string) (found []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
