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

// TestAccessToParameters: nobody reads by a policy what they may not read.
func TestAccessToParameters(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "jane", "rita")
	write := `{"apiGroups":["admissionregistration.platform.io"],"resources":["*"],"verbs":["*"]}`
	r.grant("jane", "jane", write)
	r.grant("rita", "rita", write+`,{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}`)
	policy := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{` + policyMatches + `,"paramKind":{"apiVersion":"v1","kind":"Secret"},"validations":[{"expression":"true"}]}}`
	}
	binding := func(policy, ref string) string {
		return `{"metadata":{"generateName":"b-"},"spec":{"policyName":"` + policy + `","validationActions":["Deny"],"paramRef":{` + ref + `,"parameterNotFoundAction":"Deny"}}}`
	}
	r.expect("jane", "POST", policiesPath, policy("a"), 422,
		`spec.paramKind: Forbidden: user \u0026{jane  [system:authenticated] map[]} must have \"get\" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`)
	r.expect("rita", "POST", policiesPath, policy("a"), 201)
	r.expect("jane", "PATCH", policiesPath+"/a", `{"metadata":{"labels":{"x":"y"}}}`, 200)
	r.expect("jane", "POST", bindingsPath, binding("a", `"name":"s","namespace":"default"`), 422,
		`spec.paramRef: Forbidden: user \u0026{jane  [system:authenticated] map[]} does not have \"get\" permission on the object referenced by paramRef`)
	r.expect("jane", "POST", bindingsPath, binding("none", `"name":"s"`), 422, `unable to get policy none to determine minimum required permissions`)
	r.expect("rita", "POST", bindingsPath, binding("a", `"name":"s"`), 201)
	r.expect("rita", "POST", bindingsPath, binding("a", `"selector":{}`), 422, `does not have \"list\" permission`)
	r.expect("root", "POST", bindingsPath, binding("a", `"selector":{}`), 201)
}

// TestPolicyAsksRemoteAuthorizer: a policy that asks an authorizer that takes long holds up nobody else, not even writers of the
// same object.
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
		t.Errorf("the slow one was answered %d", code)
	}
}
