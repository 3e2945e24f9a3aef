package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

func runStatus(t *testing.T, s *troupetest.Server, args ...string) (string, error) {
	t.Helper()
	c := root()
	var out bytes.Buffer
	c.SetArgs(append([]string{"status", "--kubeconfig", s.KubeconfigFile()}, args...))
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.Execute()
	return out.String(), err
}

// TestStatusHot checks the reports of a fight between managers, of many updates by one manager, and
// of no activity. The changes are in memory, or recovered from the journal.
func TestStatusHot(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithConfig(func(c *daemon.Config) { c.Ephemeral, c.DataDir = false, t.TempDir() }))
	write := func(manager, kind, name, data string) {
		t.Helper()
		path := s.URL + "/api/v1/namespaces/default/" + kind
		body := fmt.Sprintf(`{"metadata":{"name":%q},"data":%s}`, name, data)
		request := must.Get(http.NewRequest("PUT", path+"/"+name+"?fieldManager="+manager, strings.NewReader(body)))(t)
		if manager == "" {
			request = must.Get(http.NewRequest("POST", path, strings.NewReader(body)))(t)
		}
		request.Header.Set("Content-Type", "application/json")
		answer := must.Get(s.Client().Do(request))(t)
		defer answer.Body.Close()
		if answer.StatusCode > 201 {
			t.Fatalf("%s %s: %s", kind, name, answer.Status)
		}
	}
	if out, err := runStatus(t, s, "--hot"); err != nil || out != "No object is rewritten repeatedly.\n" {
		t.Errorf("%v %q", err, out)
	}
	write("", "configmaps", "fought", `{"k":"zero"}`)
	write("", "secrets", "fought", `{"k":"MA=="}`)
	for range 3 {
		write("ann", "configmaps", "fought", `{"k":"one"}`)
		write("bob", "configmaps", "fought", `{"k":"two"}`)
		write("ann", "secrets", "fought", `{"k":"MQ=="}`)
		write("bob", "secrets", "fought", `{"k":"Mg=="}`)
	}
	write("", "configmaps", "counted", `{"n":"0"}`)
	write("", "configmaps", "calm", `{"n":"0"}`)
	for i := range 31 {
		write("counter", "configmaps", "counted", fmt.Sprintf(`{"n":"%d"}`, i+1))
		if i > 0 {
			write("counter", "configmaps", "calm", fmt.Sprintf(`{"n":"%d"}`, i+1))
		}
	}
	const want = `OBJECT                      UPDATES  MANAGER  FIELD    REVERTED  VALUE
configmaps/default/counted  31       counter                     
configmaps/default/fought   3        ann                         
configmaps/default/fought   3        bob                         
configmaps/default/fought            ann      .data.k  4         "one"
configmaps/default/fought            bob      .data.k  4         "two"
secrets/default/fought      3        ann                         
secrets/default/fought      3        bob                         
secrets/default/fought               ann      .data.k  4         ***
secrets/default/fought               bob      .data.k  4         ***
`
	for _, when := range []string{"in memory", "after a restart"} {
		if out, err := runStatus(t, s, "--hot"); err != nil || out != want {
			t.Errorf("%s: %v\n%s", when, err, out)
		}
		s.Restart(t)
	}
	if out, err := runStatus(t, s, "--hot", "--top=1"); err != nil || strings.Count(out, "\n") != 2 {
		t.Errorf("--top=1: %v\n%s", err, out)
	}
	out, err := runStatus(t, s, "--hot", "-o", "json")
	must.Succeed(t, err)
	var hot daemon.Hot
	must.Succeed(t, json.Unmarshal([]byte(out), &hot))
	if len(hot.Objects) != 3 || hot.Objects[0].Managers["counter"] != 31 || hot.Objects[1].Fields[0].Values[1].Manager != "bob" {
		t.Errorf("%s", out)
	}
}

// TestServerErrors checks that operator commands show the server's message, and what is wrong with
// a kubeconfig.
func TestServerErrors(t *testing.T) {
	t.Parallel()
	server, other := troupetest.Start(t), troupetest.Start(t)
	user := server.User("guest").KubeconfigFile()
	untrusted := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, os.WriteFile(untrusted, bytes.ReplaceAll(other.Kubeconfig(), []byte(other.URL), []byte(server.URL)), 0o600))
	for _, c := range []struct{ command, kubeconfig, want string }{
		{"status", user, `User "guest" cannot get path "/metrics"`},
		{"status --hot", user, `User "guest" cannot get path "/debug/hot"`},
		{"compact", user, `User "guest" cannot post path "/compact"`},
		{"backup " + filepath.Join(t.TempDir(), "backup"), user, `User "guest" cannot get path "/backup"`},
		{"fork", user, `User "guest" cannot get path "/backup"`},
		{"doctor", user, "User \"guest\" cannot get path \"/metrics\"\n       → The user of the kubeconfig needs the permission"},
		{"status", untrusted, "the kubeconfig does not trust the certificate of " + server.URL},
		{"doctor", untrusted, "\n       → Check the kubeconfig, and that its server is running: systemctl status troupe"},
		{"status -o json", user, "--output json requires --hot"},
		{"status --hot -o yaml", user, `--output "yaml": must be json`},
	} {
		args := append(strings.Fields(c.command), "--kubeconfig", c.kubeconfig)
		if out := runCommand(t, args); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q, want %q in it", c.command, out, c.want)
		}
	}
}
