package api

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestNamingWarning checks that a client that expects Kubernetes names gets one warning per
// connection in the platform profile, and none in the kubernetes profile.
func TestNamingWarning(t *testing.T) {
	t.Parallel()
	const warning = `299 - "this server uses vendor-neutral names (--naming platform); kubectl, Helm and controllers expect those of troupe serve --naming kubernetes"`
	for _, test := range []struct {
		profile, agent string
		want           []string // for two requests on one connection
	}{
		{"platform", "kubectl/v1.33.0 (linux/amd64) kubernetes/8adc0f0", []string{warning, ""}},
		{"platform", "manager/v0.0.0 (linux/amd64) kubernetes/$Format", []string{warning, ""}},
		{"platform", "Helm/3.18.4", []string{warning, ""}},
		{"platform", "curl/8.5.0", []string{"", ""}},
		{"kubernetes", "kubectl/v1.33.0 (linux/amd64) kubernetes/8adc0f0", []string{"", ""}},
	} {
		t.Run(test.profile+" "+test.agent, func(t *testing.T) {
			t.Parallel()
			s := client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming = test.profile })
			transport := client.Transport(t, s.TLS)
			for i, want := range test.want {
				a := client.Exchange(t, transport, "GET", s.URL+"/api/v1/namespaces/default", "", "User-Agent: "+test.agent)
				if got := a.Header.Get("Warning"); a.Code != 200 || got != want {
					t.Errorf("request %d: %d with Warning %q, want %q", i, a.Code, got, want)
				}
			}
		})
	}
}
