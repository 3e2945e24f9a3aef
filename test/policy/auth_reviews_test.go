package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestReviews checks that access reviews return the decisions of the configured authorizers.
func TestReviews(t *testing.T) {
	t.Parallel()
	serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"RBAC", "ABAC"}
		c.Authorization.PolicyFile = policies(t, dir, `"group":"devs","namespace":"dev","resource":"secrets","readonly":true`)
	}, "jane=devs").replay("auth/reviews")
}

// TestAuthTranscripts plays transcripts with the default authorizers.
func TestAuthTranscripts(t *testing.T) {
	for name, users := range map[string][]string{
		"certificate-states": nil, "escalation": {"jane=devs", "cleo"}, "impersonation": {"jane=devs", "helper", "boss"}, "impersonation-constrained": {"agent"},
		"old-verbs": {"rita"}, "parameters": {"jane", "rita"}, "roles-default": {"jane=devs"}, "roles-effect": {"jane=devs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serveUsers(t, nil, users...).replay("auth/" + name)
		})
	}
}
