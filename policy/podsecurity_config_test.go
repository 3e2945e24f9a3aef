package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

const head = "apiVersion: pod-security.admission.config.platform.io/v1\nkind: PodSecurityConfiguration\n"

func TestParseConfiguration(t *testing.T) {
	full := podsecurity.Configuration{
		Defaults: podsecurity.Policy{
			Enforce: podsecurity.LevelVersion{Level: podsecurity.Baseline, Version: podsecurity.MinorVersion(20)},
			Warn:    podsecurity.LevelVersion{Level: podsecurity.Restricted},
		},
		Exemptions: podsecurity.Exemptions{
			Usernames: []string{"jane", "system:node"}, Namespaces: []string{"team-a"}, RuntimeClasses: []string{"a.b"},
		},
	}
	fields := `
defaults: {enforce: baseline, enforce-version: v1.20, audit: "", warn: restricted, warn-version: latest}
exemptions: {usernames: [jane, "system:node"], namespaces: [team-a], runtimeClasses: [a.b]}
`
	for _, c := range []struct {
		naming *meta.Naming
		text   string
		want   podsecurity.Configuration
	}{
		{meta.Platform, "", podsecurity.Configuration{}},
		{meta.Platform, " \n", podsecurity.Configuration{}},
		{meta.Platform, head, podsecurity.Configuration{}},
		{meta.Platform, head + "defaults:\nexemptions: {}", podsecurity.Configuration{}},
		{meta.Platform, head + fields, full},
		{meta.Platform, strings.Replace(head, "/v1", "/v1beta1", 1) + fields, full},
		{meta.Kubernetes, strings.Replace(head, "platform.io/v1", "k8s.io/v1alpha1", 1) + fields, full},
		{meta.Platform, `{"apiVersion":"pod-security.admission.config.platform.io/v1","kind":"PodSecurityConfiguration"}`, podsecurity.Configuration{}},
	} {
		got, err := podsecurity.ParseConfiguration([]byte(c.text), c.naming)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func TestParseConfigurationFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[]", "a PodSecurityConfiguration must be a map"},
		{"{}", `apiVersion: Unsupported value: "": supported values: "pod-security.admission.config.platform.io/v1"`},
		{strings.Replace(head, "/v1", "/v2", 1), `apiVersion: Unsupported value: "pod-security.admission.config.platform.io/v2"`},
		{strings.Replace(head, "PodSec", "Sec", 1), `kind: Unsupported value: "SecurityConfiguration"`},
		{head + "metadata: {}", "metadata: there is no such field"},
		{head + "defaults: {enforced: x}", "defaults.enforced: there is no such field"},
		{head + "exemptions: {users: []}", "exemptions.users: there is no such field"},
		{head + "defaults: []", "defaults: Invalid value: []: must be a map"},
		{head + "defaults: {enforce: 1}", "defaults.enforce: Invalid value: 1: must be text"},
		{head + "defaults: {audit: Baseline}", `defaults.audit: Invalid value: "Baseline": must be one of privileged, baseline, restricted`},
		{head + "defaults: {warn-version: v2}", `defaults.warn-version: Invalid value: "v2": must be "latest" or "v1.x"`},
		{head + "exemptions: {namespaces: a}", `exemptions.namespaces: Invalid value: "a": must be a list`},
		{head + "exemptions: {namespaces: [1]}", "exemptions.namespaces[0]: Invalid value: 1: must be text"},
		{head + "exemptions: {namespaces: [a, B]}", `exemptions.namespaces[1]: Invalid value: "B": a lowercase RFC 1123 label must`},
		{head + "exemptions: {runtimeClasses: [a.b, a.b]}", `exemptions.runtimeClasses[1]: Duplicate value: "a.b"`},
		{head + "exemptions: {usernames: [\"\"]}", `exemptions.usernames[0]: Invalid value: "": username must not be empty`},
		{head + "kind: PodSecurityConfiguration", `"kind" already set`},
		{"defaults: {warn: x}", "apiVersion: Unsupported"},
		{"defaults: {warn: x}", "\ndefaults.warn: Invalid"}, // all faults are reported
	} {
		_, err := podsecurity.ParseConfiguration([]byte(c.text), meta.Platform)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, not %s", c.text, err, c.want)
		}
	}
}
