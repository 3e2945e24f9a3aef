package clients

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestOldDiscovery checks that commands work with a server without aggregated discovery. They must
// request each API version and tolerate unavailable versions.
func TestOldDiscovery(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"platform", "kubernetes"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, profile)
			old := oldServer(p, "")
			for _, args := range [][]string{
				{"api-resources", "-o", "name"}, {"api-resources", "--sort-by=name", "-o", "wide"}, {"api-versions"}, {"get", "namespaces", "-o", "name"}, {"get", "cm,svc", "-A", "-o", "name"},
				{"explain", "deploy.spec.replicas"}, {"auth", "can-i", "list", "secrets"}, {"get", "ds.apps"}, {"get", "all", "-o", "name"}, {"get", "nothings"},
			} {
				want, code := p.run(args...)
				p.expect(code, want, append(args, "--kubeconfig", old)...)
			}
			p.expect(0, "deployment.apps/web created\n", "create", "deployment", "web", "--image=i", "--kubeconfig", old)
			p.expect(0, "deployment.apps/web scaled\n", "scale", "deployment", "web", "--replicas=3", "--kubeconfig", old)

			broken := oldServer(p, "/apis/autoscaling/v2")
			p.expect(0, "deployment.apps/web\n", "get", "deployments", "-o", "name", "--kubeconfig", broken)
			p.expect(1, "error: the server doesn't have a resource type \"horizontalsomethings\"; no discovery of autoscaling/v2: its server is unavailable\n", "get", "horizontalsomethings", "--kubeconfig", broken)
		})
	}
}

// oldServer starts a proxy without aggregated discovery and returns the path of its kubeconfig. For
// the path silent, the proxy responds with 503.
func oldServer(p *place, silent string) string {
	return p.front("old"+strings.ReplaceAll(silent, "/", "-"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == silent {
			http.Error(w, "no answer", http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/api" || r.URL.Path == "/apis" {
			r.Header.Set("Accept", client.JSON)
		}
		next.ServeHTTP(w, r)
	})
}
