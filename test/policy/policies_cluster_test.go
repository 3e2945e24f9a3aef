package policy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A policyCluster is a session with a daemon on which MutatingAdmissionPolicy is enabled.
type policyCluster struct{ profileSession }

func openPolicies(t *testing.T, profile string) policyCluster {
	t.Helper()
	return policyCluster{openProfile(t, profile, withMutatingPolicies)}
}

func withMutatingPolicies(c *daemon.Config) {
	c.API.FeatureGates, c.API.RuntimeConfig = daemon.Switches{"MutatingAdmissionPolicy": true}, daemon.Switches{"api/beta": true}
}

func openPoliciesInProfiles(t *testing.T, test func(*testing.T, policyCluster)) {
	client.InProfiles(t, func(t *testing.T, profile string) { test(t, openPolicies(t, profile)) })
}

const (
	admissionPath = "/apis/admissionregistration.platform.io/"
)

// send sends a request and checks the status code. The response body or warnings must contain each
// of want.
func (c policyCluster) send(code int, method, path, body string, want ...string) client.Answer {
	c.T.Helper()
	contentType := client.JSON
	if method == http.MethodPatch {
		contentType = client.MergePatch
	}
	return c.sendAs(code, method, path, contentType, body, want...)
}

func (c policyCluster) sendAs(code int, method, path, contentType, body string, want ...string) client.Answer {
	c.T.Helper()
	a, err := c.Do(c.Ctx, method, c.named(path), contentType, []byte(c.named(body)))
	if err != nil || a.Code != code {
		c.T.Fatalf("%s %s %s: %v, %v, want %d", method, path, body, a, err, code)
	}
	text := string(a.Body)
	var status struct{ Message string }
	if json.Unmarshal(a.Body, &status) == nil && status.Message != "" {
		text += "\n" + status.Message
	}
	text += "\n" + strings.Join(a.Header.Values("Warning"), "\n")
	for _, w := range want {
		if w = c.named(w); !strings.Contains(text, w) {
			c.T.Errorf("%s %s: %s\n lacks %s", method, path, text, w)
		}
	}
	return a
}

func rules(operations, group, version, resources string) string {
	return `{"resourceRules":[{"operations":["` + strings.ReplaceAll(operations, " ", `","`) + `"],"apiGroups":["` + group + `"],"apiVersions":["` +
		version + `"],"resources":["` + strings.ReplaceAll(resources, " ", `","`) + `"]}]}`
}

var policyConfigMaps = rules("CREATE UPDATE", "", "v1", "configmaps")

// policy creates a ValidatingAdmissionPolicy and its binding. By default, the policy matches writes
// to ConfigMaps, and the binding denies them.
func (c policyCluster) policy(name, match, spec, binding string) {
	c.T.Helper()
	if match == "" {
		match = policyConfigMaps
	}
	if !strings.Contains(binding, "validationActions") {
		binding = `"validationActions":["Deny"]` + comma(binding)
	}
	c.send(201, http.MethodPost, admissionPath+"v1/validatingadmissionpolicies", `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":`+match+comma(spec)+`}}`)
	c.send(201, http.MethodPost, admissionPath+"v1/validatingadmissionpolicybindings", `{"metadata":{"name":"`+name+`-b"},"spec":{"policyName":"`+name+`"`+comma(binding)+`}}`)
}

// mutation creates a MutatingAdmissionPolicy and its binding. By default, the policy matches writes
// to ConfigMaps.
func (c policyCluster) mutation(name, match, spec, binding string) {
	c.T.Helper()
	if match == "" {
		match = policyConfigMaps
	}
	if !strings.Contains(spec, "reinvocationPolicy") {
		spec += `,"reinvocationPolicy":"Never"`
	}
	c.send(201, http.MethodPost, admissionPath+"v1beta1/mutatingadmissionpolicies", `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":`+match+comma(spec)+`}}`)
	c.send(201, http.MethodPost, admissionPath+"v1beta1/mutatingadmissionpolicybindings", `{"metadata":{"name":"`+name+`-b"},"spec":{"policyName":"`+name+`"`+comma(binding)+`}}`)
}

func (c policyCluster) clear() {
	c.T.Helper()
	for _, resource := range []string{"v1/validatingadmissionpolicies", "v1/validatingadmissionpolicybindings", "v1beta1/mutatingadmissionpolicies", "v1beta1/mutatingadmissionpolicybindings"} {
		c.send(200, http.MethodDelete, admissionPath+resource, "")
	}
}

func comma(text string) string {
	if text == "" {
		return ""
	}
	return "," + text
}
