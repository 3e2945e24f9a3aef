package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A configFile is a configuration file of a running daemon.
type configFile struct {
	*userCluster
	path, topic string // the topic is authentication or authorization
}

func (f configFile) text(fields string) string {
	return f.named("apiVersion: apiserver.config.platform.io/v1\nkind: A" + f.topic[1:] + "Configuration\n" + fields)
}

// reload writes the file and waits until the daemon's reload counter for the given status
// increases.
func (f configFile) reload(status, text string) {
	f.t.Helper()
	series := "apiserver_" + f.topic + `_config_controller_automatic_reloads_total{status="` + status + `",`
	count := func() string {
		_, rest, _ := strings.Cut(string(f.do("root", "GET", "/metrics", "").Body), series)
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	before := count()
	client.WriteFile(f.t, f.path, f.text(text))
	client.Eventually(f.t, func() error {
		if line := count(); line == before {
			return fmt.Errorf("%s is still %s", status, line)
		}
		return nil
	})
}

func configured(t *testing.T, topic string, change func(c *daemon.Config, path string) (fields string), users ...string) configFile {
	t.Helper()
	f := configFile{topic: topic}
	f.userCluster = serveUsers(t, func(c *daemon.Config, dir string) {
		f.path = filepath.Join(dir, topic+".yaml")
		c.TLS.ReloadPeriod = daemon.Duration(10 * time.Millisecond)
		fields := change(c, f.path)
		client.WriteFile(t, f.path, configFile{&userCluster{profile: c.Naming}, "", topic}.text(fields))
	}, users...)
	return f
}

func issuerConfig(issuer, ca, mappings string) string {
	return "- issuer: {url: " + issuer + ", audiences: [a, troupe], audienceMatchPolicy: MatchAny, certificateAuthority: " + fmt.Sprintf("%q", ca) + "}\n  " +
		"claimMappings: " + mappings + "\n  "
}

// TestAuthenticationConfig checks several issuers, expressions, anonymous paths, and reloads.
func TestAuthenticationConfig(t *testing.T) {
	t.Parallel()
	authority := pki.Authority(t, "provider")
	ca := string(pki.PEM(authority.Leaf))
	one, two := newIdentityProvider(t, authority), newIdentityProvider(t, authority)
	one.open()
	two.open()
	first := issuerConfig(one.url, ca, `{username: {expression: "'one:' + claims.sub"}, groups: {expression: "dyn(claims.groups).map(g, 'g:' + g)"}, uid: {claim: jti}, extra: [{key: example.com/hd, valueExpression: claims.hd}]}`) +
		`claimValidationRules: [{claim: hd, requiredValue: example.com}, {expression: "claims.sub != 'joe'", message: no joe}]
  userValidationRules: [{expression: "!user.username.endsWith('root')", message: no root}]
`
	second := strings.Replace(issuerConfig("https://issuer.example", ca, `{username: {claim: sub, prefix: "two:"}}`), "issuer: {", "issuer: {discoveryURL: "+two.url+"/elsewhere, ", 1) + "\n"
	const anonymous = "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"
	f := configured(t, "authentication", func(c *daemon.Config, path string) string {
		c.Authentication.ConfigFile = path
		return "jwt:\n" + first + second + anonymous
	})
	as := func(token string) client.Answer {
		return f.do("", "POST", selfReviewPath, "{}", "Authorization: Bearer "+token)
	}
	await := func(label, token string, code int, texts ...string) {
		t.Helper()
		client.Eventually(t, func() error {
			if a := as(token); a.Code != code {
				return fmt.Errorf("%s: %s", label, a)
			}
			return nil
		})
		f.want(label, as(token), code, texts...)
	}
	elsewhere := map[string]any{"iss": "https://issuer.example"}
	jane := one.token("jane", nil)
	await("the first issuer", jane, 201, `"userInfo":{"username":"one:jane","uid":"j1","groups":["g:devs","system:authenticated"],`+
		`"extra":{"authentication.platform.io/credential-id":["JTI=j1"],"example.com/hd":["example.com"]}}`)
	await("the second issuer", two.token("kim", elsewhere), 201, `"userInfo":{"username":"two:kim","groups":["system:authenticated"]`)
	for label, token := range map[string]string{
		"a required claim": one.token("jane", map[string]any{"hd": "x"}), "a claim rule": one.token("joe", nil), "a user rule": one.token("root", nil),
		"another audience": one.token("jane", map[string]any{"aud": "x"}), "the other issuer's key": two.token("jane", map[string]any{"iss": one.url}),
		"another issuer": two.token("jane", nil),
	} {
		f.want(label, as(token), 401)
	}
	f.want("another audience of the issuer", as(one.token("jane", map[string]any{"aud": []string{"x", "a"}})), 201)
	f.expect("", "GET", "/livez", "", 200)
	f.expect("", "GET", "/readyz", "", 401)

	for label, fields := range map[string]string{
		"an error":             "jwt: [{}]\n" + anonymous,
		"no YAML":              "jwt: [",
		"changed anonymous":    "jwt:\n" + first + "anonymous: {enabled: true}",
		"an unreachable one":   "jwt:\n" + first + issuerConfig("https://127.0.0.1:1", ca, `{username: {claim: sub, prefix: ""}}`) + "\n" + anonymous,
		"the server's account": "jwt:\n" + first + issuerConfig("https://platform.default.svc", ca, `{username: {claim: sub, prefix: ""}}`) + "\n" + anonymous,
	} {
		f.reload("failure", fields)
		f.want("after "+label, as(jane), 201, `"one:jane"`)
	}
	if !strings.Contains(f.log.String(), "anonymous: Forbidden: changed from initial configuration file") {
		t.Error("a changed field anonymous is not logged")
	}
	f.reload("success", "jwt:\n"+strings.Replace(first, "'one:'", "'new:'", 1)+anonymous)
	f.want("a new mapping", as(jane), 201, `"new:jane"`)
	f.want("a removed issuer", as(two.token("kim", elsewhere)), 401)
	f.expect("", "GET", "/livez", "", 200)
	f.reload("success", anonymous)
	f.want("no issuers", as(jane), 401)
	f.expect("root", "GET", "/metrics", "", 200, `apiserver_authentication_config_controller_last_config_info{apiserver_id_hash="sha256:`,
		`apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds{status="failure",`)
}

// TestAuthorizationConfig checks the order of authorizers, conditions, failure policies, and
// reloads.
func TestAuthorizationConfig(t *testing.T) {
	client.InProfiles(t, func(t *testing.T, profile string) {
		m, down := newAuthzWebhookServer(t), newAuthzWebhookServer(t)
		down.failing.Store(true)
		var hooks [2]string // kubeconfigs
		hook := func(name, policy string, server int, conditions ...string) string {
			text := "- type: Webhook\n  name: " + name + "\n  webhook: {timeout: 10s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: " + policy +
				", connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + hooks[server] + "}, matchConditions: ["
			for _, c := range conditions {
				text += fmt.Sprintf("{expression: %q},", c)
			}
			return text + "]}\n"
		}
		const rbac = "- {type: RBAC, name: rbac}\n"
		f := configured(t, "authorization", func(c *daemon.Config, path string) string {
			c.Naming, c.Authorization.ConfigFile = profile, path
			hooks[0] = m.kubeconfig(t, filepath.Dir(path))
			down.path = "down"
			hooks[1] = down.kubeconfig(t, filepath.Dir(path))
			return "authorizers:\n" + hook("closed", "Deny", 1, "has(request.resourceAttributes) && request.resourceAttributes.resource == 'pods' && request.user != 'root'") +
				hook("open", "NoOpinion", 1, "has(request.resourceAttributes) && request.resourceAttributes.resource == 'services'") +
				hook("hook.example.com", "NoOpinion", 0, "'a' in request.groups", "has(request.resourceAttributes)") + rbac
		}, "good=a", "wicked=a", "other=a", "good2")
		rules := `{"apiGroups":[""],"resources":["configmaps","pods","services"],"verbs":["*"]}`
		for _, user := range []string{"wicked", "other"} {
			f.bind(user, user, rules+`,{"nonResourceURLs":["/granted"],"verbs":["get"]}`)
			f.waitAllowed(`"user":"` + user + `","nonResourceAttributes":{"verb":"get","path":"/granted"}`)
		}
		f.expect("good", "GET", configMaps, "", 200)
		f.expect("wicked", "GET", configMaps, "", 403, "you know why")
		f.expect("other", "GET", configMaps, "", 200) // by RBAC
		f.expect("good2", "GET", configMaps, "", 403) // the conditions exclude the webhook
		f.expect("other", "GET", pods, "", 403, "the authorization webhook did not respond")
		f.expect("other", "GET", "/api/v1/services", "", 200) // by RBAC, after a failure
		metrics := f.expect("root", "GET", "/metrics", "", 200, `apiserver_authorization_decisions_total{type="RBAC",name="rbac",decision="allowed"} `,
			`apiserver_authorization_decisions_total{type="Webhook",name="hook.example.com",decision="denied"} 1`,
			`apiserver_authorization_webhook_evaluations_total{name="hook.example.com",result="success"} `,
			`apiserver_authorization_webhook_evaluations_fail_open_total{name="open",result="error"} 1`,
			`apiserver_authorization_webhook_duration_seconds_count{name="closed",result="error"} 1`,
			`apiserver_authorization_config_controller_last_config_info{apiserver_id_hash="sha256:`)
		if strings.Contains(string(metrics.Body), `fail_open_total{name="closed"`) {
			t.Error("a webhook with the policy Deny fails open")
		}

		for _, fields := range []string{
			"authorizers: []", "authorizers:\n" + hook("a", "Deny", 0), "authorizers:\n" + rbac + "- {type: Node, name: node}",
			"authorizers:\n" + rbac + hook("a", "Deny", 0, "request.x"), "authorizers:\n" + rbac + strings.Replace(hook("a", "Deny", 0), hooks[0], "/missing", 1),
		} {
			f.reload("failure", fields)
			f.expect("good", "GET", configMaps, "", 200)
		}
		for _, text := range []string{"missing required types: [RBAC]", "authorizer type Node is not allowed if it was not enabled at initial server startup"} {
			if !strings.Contains(f.log.String(), text) {
				t.Errorf("the log lacks %s", text)
			}
		}
		f.reload("success", "authorizers:\n"+rbac+hook("late", "Deny", 0, "request.user == 'good'"))
		f.expect("good", "GET", configMaps, "", 200)
		f.expect("wicked", "GET", configMaps, "", 200)
		f.expect("other", "GET", pods, "", 200)
		f.reload("success", "authorizers:\n"+rbac)
		f.expect("good", "GET", configMaps, "", 403)
		f.reload("success", "authorizers:\n"+rbac+"- {type: AlwaysAllow, name: alwaysallow}")
		f.expect("good", "GET", configMaps, "", 200)
	})
}

func TestConfigFileFaults(t *testing.T) {
	t.Parallel()
	for fields, fault := range map[string]string{
		"authorizers: [{type: ABAC, name: abac}]":                         "authorization-policy-file",
		"authorizers: [{type: RBAC, name: x}]":                            "--authorization-config ",
		"jwt: [{}]":                                                       "--authentication-config ",
		"anonymous: {enabled: true}\njwt: []":                             "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file",
		"jwt:\n" + issuerConfig("https://platform.default.svc", "", "{}"): `URL must not overlap with disallowed issuers: [https://platform.default.svc]`,
	} {
		config, path := daemon.Default(), filepath.Join(t.TempDir(), "config.yaml")
		config.Ephemeral, config.Serving.SecurePort, config.Authentication.Anonymous = true, 0, false
		f := configFile{&userCluster{profile: "platform"}, "", "authentication"}
		if config.Authentication.ConfigFile = path; strings.HasPrefix(fields, "authorizers") {
			config.Authentication.ConfigFile, config.Authorization.ConfigFile, f.topic = "", path, "authorization"
		}
		if strings.Contains(fields, "svc") {
			fields = strings.Replace(fields, "claimMappings: {}", "claimMappings: {username: {claim: sub, prefix: ''}}", 1)
		}
		client.WriteFile(t, path, f.text(fields))
		d, err := daemon.New(config, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		if err = d.Start(); err == nil {
			d.Stop(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %s", fields, err, fault)
		}
	}
}
