package policy

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// eventually repeats a GET request until it gets the status code. Changes to a node's Pods affect
// its permissions with a delay.
func (r *userCluster) eventually(user, path string, code int) {
	r.t.Helper()
	client.Eventually(r.t, func() error {
		if a := r.do(user, "GET", path, ""); a.Code != code {
			return fmt.Errorf("%s %s: got %s, want %d", user, path, a, code)
		}
		return nil
	})
}

func TestNodes(t *testing.T) {
	t.Parallel()
	serveUsers(t, func(c *daemon.Config, _ string) {
		c.Authorization.Modes, c.Admission.Enable = []string{"Node", "RBAC"}, []string{"NodeRestriction"}
	}, "system:node:n1=system:nodes", "system:node:n2=system:nodes", "system:node:n3").replay("auth/nodes")
}
