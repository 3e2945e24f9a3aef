package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

func policies(t *testing.T, dir string, specs ...string) string {
	t.Helper()
	text := "# policies\n"
	for _, spec := range specs {
		text += `{"apiVersion":"abac.authorization.platform.io/v1beta1","kind":"Policy","spec":{` + spec + "}}\n"
	}
	path := filepath.Join(dir, "policies.jsonl")
	client.WriteFile(t, path, text)
	return path
}

func TestABAC(t *testing.T) {
	t.Parallel()
	serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"ABAC"}
		c.Authorization.PolicyFile = policies(t, dir,
			`"user":"jane","namespace":"default","resource":"configmaps"`,
			`"group":"readers","namespace":"*","resource":"*","apiGroup":"*","readonly":true`,
			`"user":"*","nonResourcePath":"/version"`,
			`"user":"jane","resource":"selfsubjectrulesreviews","apiGroup":"authorization.platform.io"`)
	}, "jane=devs", "rita=readers").replay("auth/abac")
}

func TestFaultyPolicyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = filepath.Join(dir, "data"), 0
	config.Authorization.Modes, config.Authorization.PolicyFile = []string{"ABAC"}, policies(t, dir, `"user":"a"`, `"usr":"a"`)
	d, err := daemon.New(config, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "--authorization-policy-file "+config.Authorization.PolicyFile+": line 3: ") {
		t.Errorf("got %v", err)
	}
}
