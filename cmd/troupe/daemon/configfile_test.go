package daemon

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/encryption"
)

// TestConfigurations checks the errors of configuration files, recorded from
// ValidateAuthenticationConfiguration and ValidateAuthorizationConfiguration of k8s.io/apiserver
// v0.37.2.
func TestConfigurations(t *testing.T) {
	for _, topic := range []string{"authentication", "authorization"} {
		var cases []struct {
			Name, Config string
			Faults       []string
		}
		must.Succeed(t, yaml.UnmarshalStrict(must.Get(os.ReadFile("testdata/"+topic+"config.yaml"))(t), &cases))
		kinds := must.Get(catalog.New(meta.Kubernetes))(t)
		for _, c := range cases {
			text := c.Config
			if !strings.Contains(text, "apiVersion") {
				text = "apiVersion: apiserver.config.k8s.io/v1\nkind: " + configKind(topic) + "\n" + text
			}
			_, err := kinds.DecodeConfig(configKind(topic), []byte(text))
			var got []string
			switch status := meta.AsStatus(err); {
			case err != nil && status.Details != nil:
				for _, cause := range status.Details.Causes {
					got = append(got, cause.Field+": "+cause.Message)
				}
			case err != nil:
				got = append(got, err.Error())
			}
			if !slices.Equal(got, c.Faults) {
				t.Errorf("%s: got\n%s\nwant\n%s", c.Name, strings.Join(got, "\n"), strings.Join(c.Faults, "\n"))
			}
		}
	}
}

func TestConfigurationFormat(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	for text, fault := range map[string]string{
		"{apiVersion: apiserver.config.platform.io/v1beta1, kind: AuthorizationConfiguration, authorizers: [{type: RBAC, name: rbac}]}":                                                             "",
		"{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration}":                                                                                                                `no kind "AuthorizationConfiguration" is registered for version "apiserver.config.k8s.io/v1"`,
		"{apiVersion: apiserver.config.platform.io/v2, kind: AuthorizationConfiguration}":                                                                                                           `is registered for version "apiserver.config.platform.io/v2"`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthenticationConfiguration}":                                                                                                          `no kind "AuthenticationConfiguration"`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: [{typ: RBAC}]}":                                                                               `strict decoding error: unknown field "authorizers[0].typ"`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: {}}":                                                                                          "cannot unmarshal object",
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: [{type: RBAC, name: r}]}":                                                                     `authorizers[0].name: Invalid value: "r": expected name rbac for authorizer RBAC instead of r`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: [{type: Webhook, name: r, webhook: {connectionInfo: {type: InClusterConfig}}}]}":              `authorizers[0].connectionInfo.type: Unsupported value: "InClusterConfig"`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthenticationConfiguration, jwt: [{issuer: {egressSelectorType: cluster}}]}":                                                          `jwt[0].issuer.egressSelectorType: Invalid value: "cluster": egress selectors are not supported`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthenticationConfiguration, jwt: [" + strings.Repeat("{},", 65) + "]}":                                                                `jwt: Too many: 65: must have at most 64 items`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: [{type: Webhook, name: r, webhook: {matchConditions: [" + strings.Repeat("{},", 65) + "]}}]}": `authorizers[0].matchConditions: Too many: 65: must have at most 64 items`,
		"{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, kind: AuthorizationConfiguration}":                                                                         "already set in map",
		"apiVersion: apiserver.config.platform.io/v1\nkind: AuthorizationConfiguration\n---\nauthorizers: []":                                                                                       "more than one document",

		"": "cannot unmarshal null",
	} {
		kind := configKind("authorization")
		if strings.Contains(text, "jwt") {
			kind = configKind("authentication")
		}
		if _, err := kinds.DecodeConfig(kind, []byte(text)); (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: got %v, want %q", text, err, fault)
		}
	}
	config := must.Get(kinds.DecodeConfig(configKind("authorization"), []byte(`{apiVersion: apiserver.config.platform.io/v1, kind: AuthorizationConfiguration, authorizers: [
		{type: Webhook, name: a, webhook: {timeout: 1s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /a}}}]}`)))(t)
	if hook := config.Objects("authorizers")[0].Object("webhook"); !hook.Bool("cacheAuthorizedRequests") || !hook.Bool("cacheUnauthorizedRequests") {
		t.Errorf("no defaults: %v", hook)
	}
}

// TestFlagsAsConfiguration checks that the flags result in a valid configuration file.
func TestFlagsAsConfiguration(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	c := Default()
	c.Authentication.OIDC.IssuerURL, c.Authentication.OIDC.ClientID = "https://a", "us"
	c.Authentication.OIDC.RequiredClaims = []string{"hd=a=b"}
	config := must.Get(c.Authentication.OIDC.configuration())(t)
	must.Succeed(t, kinds.ValidateConfig(configKind("authentication"), config))
	want := tree.Tree{"jwt": []any{tree.Tree{
		"issuer":               tree.Tree{"url": "https://a", "audiences": []any{"us"}},
		"claimMappings":        tree.Tree{"username": tree.Tree{"claim": "sub", "prefix": "https://a#"}},
		"claimValidationRules": []any{tree.Tree{"claim": "hd", "requiredValue": "a=b"}},
	}}}
	if !tree.StrictEqual(config, want) {
		t.Errorf("got %v", config)
	}
	for prefix, wants := range map[string][2]string{"": {"https://a#", ""}, "-": {"", ""}, "x:": {"x:", "x:"}} {
		for i, claim := range []string{"sub", "email"} {
			o := c.Authentication.OIDC
			o.UsernamePrefix, o.UsernameClaim = prefix, claim
			jwt := must.Get(o.configuration())(t).Objects("jwt")[0]
			if got := jwt.Object("claimMappings", "username").String("prefix"); got != wants[i] {
				t.Errorf("%q of %s: got %q", prefix, claim, got)
			}
		}
	}
	c.Authentication.OIDC.IssuerURL = "http://a"
	if err := kinds.ValidateConfig(configKind("authentication"), must.Get(c.Authentication.OIDC.configuration())(t)); err == nil || !strings.Contains(err.Error(), "URL scheme must be https") {
		t.Errorf("got %v", err)
	}
}

// FuzzConfigurations checks that a configuration file is either rejected, or has a JSON form that
// is accepted and equal.
func FuzzConfigurations(f *testing.F) {
	kinds := must.Get(catalog.New(meta.Platform))(f)
	names := []string{"AuthenticationConfiguration", "AuthorizationConfiguration", "AdmissionConfiguration", "TracingConfiguration", "EncryptionConfiguration", "PodSecurity", "ImagePolicyWebhook", "PodNodeSelector", "EventRateLimit"}
	const head = "apiVersion: apiserver.config.platform.io/v1\nkind: "
	for i, fields := range []string{
		"jwt: [{issuer: {url: 'https://a', audiences: [b]}, claimMappings: {username: {expression: claims.sub}}, claimValidationRules: [{expression: 'claims.a == 1'}]}]",
		"authorizers: [{type: Webhook, name: a, webhook: {timeout: 1s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /a}}}]",
		"plugins: [{name: PodSecurity, configuration: {kind: PodSecurityConfiguration}}]",
		"endpoint: localhost:1\nsamplingRatePerMillion: 1000",
		"resources: [{resources: [secrets], providers: [{aesgcm: {keys: [{name: k, secret: AQEBAQEBAQEBAQEBAQEBAQ==}]}}, {kms: {apiVersion: v2, name: p, endpoint: 'unix:///a'}}, {identity: {}}]}]",
	} {
		f.Add(uint8(i), head+names[i]+"\n"+fields)
	}
	f.Add(uint8(5), "apiVersion: pod-security.admission.config.platform.io/v1\nkind: PodSecurityConfiguration\ndefaults: {enforce: baseline}")
	f.Add(uint8(6), "imagePolicy: {kubeConfigFile: /a, allowTTL: 50, defaultAllow: true}")
	f.Add(uint8(7), "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: a=b}")
	f.Add(uint8(8), "apiVersion: eventratelimit.admission.platform.io/v1alpha1\nkind: Configuration\nlimits: [{type: Server, qps: 1, burst: 2}]")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		name := names[int(which)%len(names)]
		config, err := kinds.DecodeConfig(name, []byte(text))
		if err != nil {
			return
		}
		json := codec.AppendAny(nil, config)
		if again, err := kinds.DecodeConfig(name, json); err != nil || !tree.StrictEqual(again, config) {
			t.Errorf("%q: got %s, then %s, %v", text, json, codec.AppendAny(nil, again), err)
		}
		if name == "EncryptionConfiguration" {
			must.Get(encryption.Parse(json, ""))(t)
		}
	})
}
