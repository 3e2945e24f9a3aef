package extension

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	mutating   = "MutatingWebhookConfiguration"
	validating = "ValidatingWebhookConfiguration"
)

// A webhookSession is a session with a server in one naming profile.
type webhookSession struct {
	client.Session
	naming string
}

// quietControllers runs only the controllers that tests need, because webhooks would also receive
// the writes of other controllers.
func quietControllers(c *daemon.Config) { c.Controllers = daemon.TestControllers }

func TestWebhookTranscripts(t *testing.T) {
	t.Parallel()
	runTranscripts(t, "webhooks", "platform", quietControllers)
}

func TestReviewTranscripts(t *testing.T) {
	client.InProfiles(t, func(t *testing.T, profile string) { runTranscripts(t, "webhooks/review", profile, quietControllers) })
}

func openWebhooks(t *testing.T, change func(*daemon.Config)) webhookSession {
	t.Helper()
	s := webhookSession{client.Open(t, func(c *daemon.Config) {
		quietControllers(c)
		if change != nil {
			change(c)
		}
	}), "platform"}
	s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts", client.JSON, `{"metadata":{"name":"default"}}`)
	return s
}

func (s webhookSession) group(prefix string) string {
	if s.naming == "kubernetes" {
		return prefix + ".k8s.io"
	}
	return prefix + ".platform.io"
}

func (s webhookSession) configurations(kind string) string {
	return "/apis/" + s.group("admissionregistration") + "/v1/" + strings.ToLower(kind) + "s"
}

func (s webhookSession) register(kind, name string, hooks ...string) {
	s.T.Helper()
	s.Send(201, "POST", s.configurations(kind), client.JSON, s.configuration(kind, name, hooks...))
}

func (s webhookSession) configuration(kind, name string, hooks ...string) string {
	return fmt.Sprintf(`{"apiVersion":"%s/v1","kind":%q,"metadata":{"name":%q},"webhooks":[%s]}`, s.group("admissionregistration"), kind, name, strings.Join(hooks, ","))
}

func (s webhookSession) unregister(kind, name string) {
	s.T.Helper()
	s.Send(200, "DELETE", s.configurations(kind)+"/"+name, "", "")
}

func (s webhookSession) create(code int, name, data string) client.Answer {
	s.T.Helper()
	return s.Send(code, "POST", configMaps, client.JSON, configMap(name, data))
}

func (s webhookSession) wantMessage(a client.Answer, part string) {
	s.T.Helper()
	if !strings.Contains(message(a), part) {
		s.T.Errorf("%s, want %q in its message", a, part)
	}
}

func (s webhookSession) wantText(a client.Answer, parts ...string) {
	s.T.Helper()
	for _, part := range parts {
		if !strings.Contains(string(a.Body), part) {
			s.T.Errorf("%s, want %s in it", a, part)
		}
	}
}

var onlyConfigMaps = rule("*", "", "v1", "configmaps")
