package extension

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestChangedConfiguration checks that a change of a webhook configuration takes effect once it is
// acknowledged.
func TestChangedConfiguration(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	no, yes := startWebhooks(t, respond(`"allowed":false`)), startWebhooks(t, allow)
	for i := range 20 {
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(no))
		s.create(400, fmt.Sprint("a", i), "")
		s.Send(200, "PATCH", s.configurations(validating)+"/v", client.MergePatch, `{"webhooks":[`+webhookHook{rules: onlyConfigMaps}.text(yes)+`]}`)
		s.create(201, fmt.Sprint("a", i), "")
		s.unregister(validating, "v")
	}
}

// TestVersionThatIsNotServed checks that matchPolicy Equivalent ignores disabled built-in versions.
// testdata/webhooks/equivalent.txt covers custom resources.
func TestVersionThatIsNotServed(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, func(c *daemon.Config) { c.API.RuntimeConfig = daemon.Switches{"autoscaling/v1": false} })
	h := startWebhooks(t, respond(`"allowed":false`))
	s.register(validating, "v", webhookHook{rules: rule("CREATE", "autoscaling", "v1", "horizontalpodautoscalers")}.text(h))
	s.Send(201, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", client.JSON,
		`{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`)
}
