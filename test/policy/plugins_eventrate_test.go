package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestEventRateLimit checks that Events of both API groups count against the same limits, and that
// dry runs do not count.
func TestEventRateLimit(t *testing.T) {
	t.Parallel()
	for profile, domain := range map[string]string{"platform": "platform.io", "kubernetes": "k8s.io"} {
		file := filepath.Join(t.TempDir(), "admission.yaml")
		text := fmt.Sprintf(`{apiVersion: apiserver.config.%[1]s/v1, kind: AdmissionConfiguration, plugins: [{name: EventRateLimit, configuration: {
			apiVersion: eventratelimit.admission.%[1]s/v1alpha1, kind: Configuration, limits: [{type: User, qps: 1, burst: 3}]}}]}`, domain)
		client.WriteFile(t, file, text)
		c := serveUsers(t, func(c *daemon.Config, _ string) {
			c.Naming = profile
			c.Admission.Enable, c.Admission.ConfigFile = []string{"EventRateLimit"}, file
		}, "jane=system:masters")
		const core, own = "/api/v1/namespaces/default/events", "/apis/events.platform.io/v1/namespaces/default/events"
		event := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"involvedObject":{"namespace":"default"}}`
		}
		c.expect("jane", "POST", core+"?dryRun=All", event("dry"), 201)
		n := 0
		post := func(path, body string) client.Answer {
			n++
			return c.do("jane", "POST", path, fmt.Sprintf(body, n))
		}
		const coreEvent = `{"metadata":{"name":"e%d"},"involvedObject":{"namespace":"default"}}`
		const ownEvent = `{"metadata":{"name":"e%d"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"default"}}`
		client.Eventually(t, func() error { // on a busy machine a second may pass between two events, which admits another one
			for range 100 {
				if post(core, coreEvent).Code == 429 {
					break
				}
			}
			if a := post(own, ownEvent); a.Code != 429 {
				return fmt.Errorf("an Event of the other group: %s", a)
			}
			a := post(core, coreEvent)
			if text := string(a.Body); a.Code != 429 || !strings.Contains(text, `"reason":"TooManyRequests"`) || !strings.Contains(text, "Too many requests: limit reached on type User for key jane") {
				return fmt.Errorf("an Event more: %s", a)
			}
			return nil
		})
		c.expect("jane", "POST", core+"?dryRun=All", event("dry"), 201)
		c.must(core, event("of-root"))
	}
}
