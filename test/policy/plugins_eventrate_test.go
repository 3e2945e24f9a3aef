package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// Events of both groups share the buckets of a limit, and a dry run takes nothing.
func TestEventRateLimit(t *testing.T) {
	t.Parallel()
	for profile, domain := range map[string]string{"platform": "platform.io", "kubernetes": "k8s.io"} {
		file := filepath.Join(t.TempDir(), "admission.yaml")
		text := fmt.Sprintf(`{apiVersion: apiserver.config.%[1]s/v1, kind: AdmissionConfiguration, plugins: [{name: EventRateLimit, configuration: {
			apiVersion: eventratelimit.admission.%[1]s/v1alpha1, kind: Configuration, limits: [{type: User, qps: 1, burst: 3}]}}]}`, domain)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newTestClusterPlugins(t, profile, func(c *daemon.Config) {
			c.Admission.Enable, c.Admission.ConfigFile = []string{"EventRateLimit"}, file
		}, testUser{"jane", "system:masters"})
		const core, own = "/api/v1/namespaces/default/events", "/apis/events.platform.io/v1/namespaces/default/events"
		event := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"involvedObject":{"namespace":"default"}}`
		}
		c.expect("jane", "POST", core+"?dryRun=All", event("dry"), 201)
		refused := 0
		for i := range 10 {
			body, path := event(fmt.Sprint("e", i)), core
			if i%2 == 1 {
				path = own
				body = fmt.Sprintf(`{"metadata":{"name":"e%d"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"default"}}`, i)
			}
			if c.do("jane", "POST", path, body).Code == 429 {
				refused++
			}
		}
		if refused < 4 {
			t.Errorf("%d of 10 Events are refused", refused)
		}
		c.expect("jane", "POST", core, event("more"), 429, `"reason":"TooManyRequests"`, "Too many requests: limit reached on type User for key jane")
		c.expect("jane", "POST", core+"?dryRun=All", event("dry"), 201)
		c.must(core, event("of-root"))
	}
}
