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

// webhookSession is a server in one of the naming profiles.
type webhookSession struct {
	client.Session
	naming string
}

// quietControllers leave only the controllers of tests, because what others write is admitted too.
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

// group is a group with the suffix of the profile.
func (s webhookSession) group(prefix string) string {
	if s.naming == "kubernetes" {
		return prefix + ".k8s.io"
	}
	return prefix + ".platform.io"
}

func (s webhookSession) configurations(kind string) string {
	return "/apis/" + s.group("admissionregistration") + "/v1/" + strings.ToLower(kind) + "s"
}

// register creates a configuration of hooks.
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

// create creates a ConfigMap.
func (s webhookSession) create(code int, name, data string) client.Answer {
	s.T.Helper()
	return s.Send(code, "POST", configMaps, client.JSON, configMap(name, data))
}

// wantMessage checks a part of the message of a Status.
func (s webhookSession) wantMessage(a client.Answer, part string) {
	s.T.Helper()
	if !strings.Contains(message(a), part) {
		s.T.Errorf("%s, want %q in its message", a, part)
	}
}

// wantText checks parts of a body.
func (s webhookSession) wantText(a client.Answer, parts ...string) {
	s.T.Helper()
	for _, part := range parts {
		if !strings.Contains(string(a.Body), part) {
			s.T.Errorf("%s, want %s in it", a, part)
		}
	}
}

// onlyConfigMaps is a rule for ConfigMaps.
var onlyConfigMaps = rule("*", "", "v1", "configmaps")
