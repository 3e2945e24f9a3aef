package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	policiesPath  = "/apis/admissionregistration.platform.io/v1/validatingadmissionpolicies"
	bindingsPath  = "/apis/admissionregistration.platform.io/v1/validatingadmissionpolicybindings"
	policyMatches = `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}`
)

// TestPolicyAsksRemoteAuthorizer checks that an admission policy that calls a slow authorizer
// delays no other requests, even writes to the same object.
func TestPolicyAsksRemoteAuthorizer(t *testing.T) {
	t.Parallel()
	m := newAuthzWebhookServer(t)
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"RBAC", "Webhook"}
		c.Authorization.Webhook.ConfigFile, c.Authorization.Webhook.Version = m.kubeconfig(t, dir), "v1"
	}, "slow", "jane")
	for _, user := range []string{"slow", "jane"} {
		r.grant(user, user, `{"apiGroups":[""],"resources":["configmaps"],"verbs":["create"]}`)
	}
	r.must(policiesPath, `{"metadata":{"name":"p"},"spec":{`+policyMatches+`,"validations":[{"expression":"authorizer.group('').resource('widgets').check('get').allowed()","messageExpression":"'no widgets for ' + request.userInfo.username"}]}}`)
	r.must(bindingsPath, `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
	answers := make(chan int, 1)
	go func() { answers <- r.do("slow", "POST", configMaps, `{"metadata":{"name":"a"}}`).Code }()
	client.Eventually(t, func() error {
		if last, _ := m.lastRequest.Load().(string); !strings.Contains(last, "widgets") {
			return errors.New("the authorizer was not asked")
		}
		return nil
	})
	r.expect("jane", "POST", configMaps, `{"metadata":{"name":"b"}}`, 422, "no widgets for jane")
	r.expect("root", "POST", configMaps, `{"metadata":{"name":"a"}}`, 201)
	close(m.unblock)
	if code := <-answers; code != 409 {
		t.Errorf("the slow request got %d", code)
	}
}
