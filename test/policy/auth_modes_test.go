package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

func TestFaultsOfModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*daemon.Authorization)
		want   string
	}{
		{func(a *daemon.Authorization) { a.Modes = nil }, "authorization-mode: must not be empty"},
		{func(a *daemon.Authorization) { a.Modes = []string{"rbac"} }, `authorization-mode: "rbac": must be one of Node, ABAC, RBAC, Webhook, AlwaysAllow, AlwaysDeny`},
		{func(a *daemon.Authorization) { a.Modes = []string{"RBAC", "Node", "RBAC"} }, `authorization-mode: "RBAC" is duplicate`},
		{func(a *daemon.Authorization) { a.Modes = []string{"ABAC"} }, "authorization-policy-file: requires the mode ABAC"},
		{func(a *daemon.Authorization) { a.PolicyFile = "x" }, "authorization-policy-file: requires the mode ABAC"},
		{func(a *daemon.Authorization) { a.Modes = []string{"Webhook"} }, "authorization-webhook-config-file: requires the mode Webhook"},
		{func(a *daemon.Authorization) { a.Webhook.ConfigFile = "x" }, "authorization-webhook-config-file: requires the mode Webhook"},
		{func(a *daemon.Authorization) { a.Webhook.Version = "v2" }, `authorization-webhook-version: "v2": must be one of v1, v1beta1`},
		{func(a *daemon.Authorization) { a.AlwaysAllowPaths = []string{"x"} }, `authorization-always-allow-paths: "x" does not begin with /`},
		{func(a *daemon.Authorization) { a.Webhook.CacheUnauthorizedTTL = -1 }, "authorization-webhook-cache-unauthorized-ttl: -1ns is less than 0"},
	} {
		config := daemon.Default()
		config.DataDir = filepath.Join(t.TempDir(), "data")
		c.change(&config.Authorization)
		if _, err := daemon.New(config, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestAlwaysAllow checks that authenticated users can do everything.
func TestAlwaysAllow(t *testing.T) {
	t.Parallel()
	serveUsers(t, func(c *daemon.Config, _ string) { c.Authorization.Modes = []string{"AlwaysAllow"} }, "jane").replay("auth/always-allow")
}
