package troupetest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

func do(t testing.TB, c *troupetest.Credentials, method, url, body string) (int, map[string]any) {
	t.Helper()
	request := must.Get(http.NewRequest(method, url, strings.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	answer := must.Get(c.Client().Do(request))(t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	o := map[string]any{}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%s %s: %s: %v", method, url, text, err)
	}
	return answer.StatusCode, o
}

func mustDo(t testing.TB, s *troupetest.Server, want int, method, path, body string) map[string]any {
	t.Helper()
	code, o := do(t, s.Credentials, method, s.URL+path, body)
	if code != want {
		t.Fatalf("%s %s: %d %v, want %d", method, path, code, o, want)
	}
	return o
}

// awaitDeletion blocks until a watch from the object's resourceVersion reports the deletion.
func awaitDeletion(t *testing.T, s *troupetest.Server, collection string, o map[string]any) {
	t.Helper()
	m := o["metadata"].(map[string]any)
	answer := must.Get(s.Client().Get(fmt.Sprintf("%s%s?watch=1&timeoutSeconds=30&fieldSelector=metadata.name=%s&resourceVersion=%s", s.URL, collection, m["name"], m["resourceVersion"])))(t)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"type":"DELETED"`) {
			return
		}
	}
	t.Fatalf("%s of %s was not deleted", m["name"], collection)
}

func TestServersAreApart(t *testing.T) {
	one, other := troupetest.Start(t), troupetest.Start(t)
	mustDo(t, one, 201, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	mustDo(t, one, 200, "GET", "/api/v1/namespaces/default/configmaps/a", "")
	mustDo(t, other, 404, "GET", "/api/v1/namespaces/default/configmaps/a", "")
	if _, err := one.Client().Get(other.URL + "/healthz"); err == nil {
		t.Error("the client of one server trusts the other")
	}
}

func TestDefaultControllers(t *testing.T) {
	s := troupetest.Start(t)
	namespace := mustDo(t, s, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	if accounts := mustDo(t, s, 200, "GET", "/api/v1/serviceaccounts", "")["items"].([]any); len(accounts) != 0 {
		t.Errorf("there are service accounts: %v", accounts)
	}
	if maps := mustDo(t, s, 200, "GET", "/api/v1/namespaces/shop/configmaps", "")["items"].([]any); len(maps) != 0 {
		t.Errorf("there are ConfigMaps: %v", maps)
	}
	mustDo(t, s, 201, "POST", "/api/v1/namespaces/shop/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	mustDo(t, s, 201, "POST", "/api/v1/namespaces/shop/persistentvolumeclaims",
		`{"metadata":{"name":"claim"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)

	owner := mustDo(t, s, 201, "POST", "/api/v1/namespaces/shop/configmaps", `{"metadata":{"name":"owner"}}`)
	owned := mustDo(t, s, 201, "POST", "/api/v1/namespaces/shop/configmaps", fmt.Sprintf(
		`{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`, owner["metadata"].(map[string]any)["uid"]))
	mustDo(t, s, 200, "DELETE", "/api/v1/namespaces/shop/configmaps/owner", "")
	awaitDeletion(t, s, "/api/v1/namespaces/shop/configmaps", owned)

	mustDo(t, s, 200, "DELETE", "/api/v1/namespaces/shop", `{}`)
	awaitDeletion(t, s, "/api/v1/namespaces", namespace)
}

func TestControllersAreSwitched(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithControllers("serviceaccount-controller", "-namespace-controller"))
	namespace := mustDo(t, s, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	answer := must.Get(s.Client().Get(s.URL + "/api/v1/namespaces/shop/serviceaccounts?watch=1&timeoutSeconds=30"))(t)
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"name":"default"`) {
		t.Errorf("the namespace has no service account: %s %v", line, err)
	}
	pod := mustDo(t, s, 201, "POST", "/api/v1/namespaces/shop/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	if account := pod["spec"].(map[string]any)["serviceAccountName"]; account != "default" {
		t.Errorf("the Pod's account is %v", account)
	}
	mustDo(t, s, 200, "DELETE", "/api/v1/namespaces/shop", `{}`)
	if phase := mustDo(t, s, 200, "GET", "/api/v1/namespaces/shop", "")["status"].(map[string]any)["phase"]; phase != "Terminating" {
		t.Errorf("the namespace %v is %v", namespace, phase)
	}
}

func TestUser(t *testing.T) {
	s := troupetest.Start(t)
	jane := s.User("jane: \"doe\"", "developers")
	if code, o := do(t, jane, "GET", s.URL+"/api/v1/namespaces/default/configmaps", ""); code != 403 || !strings.Contains(o["message"].(string), "jane: ") {
		t.Errorf("without a role: %d %v", code, o)
	}
	mustDo(t, s, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		`{"metadata":{"name":"d"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"admin"},"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"developers"}]}`)
	mustDo(t, s, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		`{"metadata":{"name":"e"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:discovery"},"subjects":[]}`)
	if code, o := do(t, jane, "POST", s.URL+"/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`); code != 201 ||
		fmt.Sprint(o["status"].(map[string]any)["userInfo"].(map[string]any)["groups"]) != "[developers system:authenticated]" {
		t.Errorf("the review of jane: %d %v", code, o)
	}
	for _, c := range []*troupetest.Credentials{jane, s.Credentials} {
		file, err := os.ReadFile(c.KubeconfigFile())
		if err != nil || string(file) != string(c.Kubeconfig()) {
			t.Errorf("%s: %s, %v", c.KubeconfigFile(), file, err)
		}
	}
}

func TestClock(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithClock(func() time.Time { return time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC) }))
	o := mustDo(t, s, 201, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	if at := o["metadata"].(map[string]any)["creationTimestamp"]; at != "2031-02-03T04:05:06Z" {
		t.Errorf("made at %v", at)
	}
}

func TestNaming(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithNaming(troupetest.Platform))
	mustDo(t, s, 200, "GET", "/apis/rbac.authorization.platform.io/v1/clusterroles/admin", "")
}

func TestConfig(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithConfig(func(c *daemon.Config) { c.Authorization.Modes = []string{"AlwaysDeny"} }))
	if code, _ := do(t, s.User("jane"), "GET", s.URL+"/api", ""); code != 403 {
		t.Errorf("a user of a server that denies everything: %d", code)
	}
}

// A failing simulates the testing.TB of a failed test, and records the log.
type failing struct {
	scope
	log []string
}

func (f *failing) Failed() bool { return true }
func (f *failing) Logf(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func TestLogsOfFailedTest(t *testing.T) {
	f := &failing{scope: scope{TB: t}}
	s := troupetest.Start(f, troupetest.WithConfig(func(c *daemon.Config) { c.TLS.CipherSuites = []string{"TLS_RSA_WITH_AES_128_CBC_SHA"} }))
	f.end()
	if log := strings.Join(f.log, "\n"); !strings.Contains(log, s.URL) || !strings.Contains(log, "insecure cipher suites") {
		t.Errorf("the log: %s", log)
	}
	if _, err := s.Client().Get(s.URL + "/healthz"); err == nil {
		t.Error("the server still answers")
	}
}
