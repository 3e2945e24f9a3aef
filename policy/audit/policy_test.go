package audit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

const policyHead = "apiVersion: audit.platform.io/v1\nkind: Policy\n"

func decodePolicy(t testing.TB, naming *meta.Naming, text string) (*audit.Policy, error) {
	t.Helper()
	config, err := must.Get(catalog.New(naming))(t).DecodeConfig("AuditPolicy", []byte(text))
	if err != nil {
		return nil, err
	}
	return audit.NewPolicy(config), nil
}

func mustParse(t testing.TB, text string) *audit.Policy {
	t.Helper()
	return must.Get(decodePolicy(t, meta.Platform, policyHead+text))(t)
}

// request parses "verb group/resource[/sub] [namespace/]name" or "verb path".
func request(user string, groups []string, text string) authz.Attributes {
	verb, label, _ := strings.Cut(text, " ")
	a := authz.Attributes{Verb: verb}
	if user != "" {
		a.User = &authn.User{Name: user, Groups: groups}
	}
	if strings.HasPrefix(label, "/") {
		a.Path = label
		return a
	}
	a.ResourceRequest = true
	label, object, _ := strings.Cut(label, " ")
	a.Group, label, _ = strings.Cut(label, ":")
	a.Resource, a.Subresource, _ = strings.Cut(label, "/")
	if namespace, name, ok := strings.Cut(object, "/"); ok {
		a.Namespace, a.Name = namespace, name
	} else {
		a.Name = object
	}
	return a
}

func TestPolicyMatches(t *testing.T) {
	for name, test := range map[string]struct {
		rule   string // a rule with level Metadata
		yes    []string
		no     []string
		user   string
		groups []string
	}{
		"everything":        {rule: "{}", yes: []string{"get :pods a/b", "get /version", " /"}},
		"user":              {rule: "users: [jane]", user: "jane", yes: []string{"get :pods", "get /x"}},
		"another user":      {rule: "users: [jane]", user: "john", no: []string{"get :pods", "get /x"}},
		"no user":           {rule: "users: [jane]", no: []string{"get :pods"}},
		"group":             {rule: "userGroups: [a, b]", user: "jane", groups: []string{"c", "b"}, yes: []string{"get :pods"}},
		"another group":     {rule: "userGroups: [a, b]", user: "a", groups: []string{"c"}, no: []string{"get :pods"}},
		"groups, no user":   {rule: "userGroups: [a]", no: []string{"get /x"}},
		"verbs":             {rule: "verbs: [get, watch]", yes: []string{"get :pods", "watch :pods", "get /x"}, no: []string{"list :pods", "post /x"}},
		"core group":        {rule: `resources: [{group: ""}]`, yes: []string{"get :pods", "get :pods/log"}, no: []string{"get apps:deployments", "get /api"}},
		"no group is core":  {rule: `resources: [{resources: [pods]}]`, yes: []string{"get :pods"}, no: []string{"get apps:pods"}},
		"group of its own":  {rule: `resources: [{group: apps}]`, yes: []string{"get apps:deployments/scale"}, no: []string{"get :pods", "get batch:jobs"}},
		"resource":          {rule: `resources: [{resources: [pods]}]`, yes: []string{"get :pods a/b"}, no: []string{"get :pods/log a/b", "get :podtemplates"}},
		"sub-resource":      {rule: `resources: [{resources: [pods/log]}]`, yes: []string{"get :pods/log a/b"}, no: []string{"get :pods a/b", "get :pods/status a/b", "get :x/log"}},
		"all sub-resources": {rule: `resources: [{resources: ["pods/*"]}]`, yes: []string{"get :pods/log a/b", "get :pods a/b"}, no: []string{"get :nodes/log"}},
		"of all resources":  {rule: `resources: [{resources: ["*/status"]}]`, yes: []string{"get :pods/status a/b", "get :nodes/status b"}, no: []string{"get :pods/log a/b", "get :status"}},
		"all resources":     {rule: `resources: [{resources: ["*"]}]`, yes: []string{"get :pods", "get :pods/log"}, no: []string{"get apps:deployments"}},
		"names":             {rule: `resources: [{resources: [configmaps], resourceNames: [lock]}]`, yes: []string{"get :configmaps a/lock"}, no: []string{"get :configmaps a/b", "list :configmaps a/"}},
		"several groups":    {rule: `resources: [{group: apps}, {group: batch}]`, yes: []string{"get batch:jobs"}, no: []string{"get :pods"}},
		"namespaces":        {rule: `namespaces: [a, b]`, yes: []string{"get :pods b/x"}, no: []string{"get :pods c/x", "get :nodes x", "get /b"}},
		"cluster scope":     {rule: `namespaces: [""]`, yes: []string{"get :nodes x"}, no: []string{"get :pods a/x"}},
		"both":              {rule: `{namespaces: [a], resources: [{resources: [pods]}]}`, yes: []string{"get :pods a/x"}, no: []string{"get :pods b/x", "get :secrets a/x"}},
		"path":              {rule: `nonResourceURLs: [/version]`, yes: []string{"get /version"}, no: []string{"get /version/", "get /versions", "get :pods"}},
		"paths":             {rule: `nonResourceURLs: ["/healthz*"]`, yes: []string{"get /healthz", "get /healthz/ping"}, no: []string{"get /health"}},
		"all paths":         {rule: `nonResourceURLs: ["*"]`, yes: []string{"get /", "get /x"}, no: []string{"get :pods"}},
	} {
		rule := strings.TrimSuffix(strings.TrimPrefix(test.rule, "{"), "}")
		p := mustParse(t, "rules: [{level: Metadata, "+rule+"}]")
		for _, list := range []struct {
			texts []string
			want  audit.Level
		}{{test.yes, audit.Metadata}, {test.no, audit.None}} {
			for _, text := range list.texts {
				a := request(test.user, test.groups, text)
				if got := p.Decide(&a).Level; got != list.want {
					t.Errorf("%s: %q is %v, want %v", name, text, got, list.want)
				}
			}
		}
	}
}

func TestFirstMatchingRuleWins(t *testing.T) {
	p := mustParse(t, `omitManagedFields: true
rules:
- {level: None, users: [system]}
- {level: Request, verbs: [create], omitManagedFields: false}
- {level: RequestResponse, resources: [{resources: [pods]}]}
`)
	for text, want := range map[string]audit.Decision{
		"create :pods":    {Level: audit.Request},
		"get :pods":       {Level: audit.RequestResponse, OmitManagedFields: true},
		"get :configmaps": {Level: audit.None},
	} {
		a := request("jane", nil, text)
		if got := p.Decide(&a); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	a := request("system", nil, "create :pods")
	if got := p.Decide(&a).Level; got != audit.None {
		t.Errorf("the first rule does not count: %v", got)
	}
}

func TestDefaultPolicyWritesNoBody(t *testing.T) {
	p := audit.DefaultPolicy()
	for _, text := range []string{"get :secrets a/b", "create :secrets a/", "update :configmaps a/b", "create authentication.platform.io:tokenreviews", "create :serviceaccounts/token a/b", "post /x", "get /backup", "get /metrics"} {
		a := request("jane", nil, text)
		if got := p.Decide(&a).Level; got != audit.Metadata {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"get /livez", "get /readyz/ping", "get /api/v1", "get /apis", "get /openapi/v3"} {
		a := request("", nil, text)
		if got := p.Decide(&a).Level; got != audit.None {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestPolicyFaults(t *testing.T) {
	for _, test := range []struct {
		text   string
		faults []string
	}{
		{"", []string{"cannot unmarshal null"}},
		{"[]", []string{"cannot unmarshal array"}},
		{"a: [", []string{"yaml"}},
		{policyHead + "rules: [{level: None}]\nrules: [{level: None}]", []string{"strict decoding error: yaml: unmarshal errors:\n  line 4: key \"rules\" already set in map"}},
		{policyHead, []string{"rules: Required value: a policy needs at least one rule"}},
		{"kind: Policies\napiVersion: audit.k8s.io/v1\nrules: [{level: None}]", []string{`no kind "Policies" is registered for version "audit.k8s.io/v1": must be one of ["audit.platform.io/v1 Policy"]`}},
		{policyHead + "rules: [{level: None, verb: [get]}]\nomitstages: []", []string{`unknown field "rules[0].verb"`, `unknown field "omitstages"`}},
		{policyHead + "rules: {}", []string{"cannot unmarshal object into Go struct field AuditPolicy.rules"}},
		{policyHead + "rules: [1]", []string{"cannot unmarshal number into Go struct field AuditPolicy.rules"}},
		{policyHead + "rules: [{level: None, users: [1]}]", []string{"cannot unmarshal number into Go struct field AuditRule.rules.users"}},
		{policyHead + "rules: [{level: None, omitManagedFields: 1}]", []string{"cannot unmarshal number into Go struct field AuditRule.rules.omitManagedFields"}},
		{policyHead + "rules: [{level: None, omitStages: RequestReceived}]", []string{"cannot unmarshal string into Go struct field AuditRule.rules.omitStages"}},
		{policyHead + "rules: [{}, {level: All, omitStages: [Sometimes]}]\nomitStages: [Never]", []string{
			`omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic`,
			`rules[0].level: Required value`, `rules[1].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"`,
			`rules[1].omitStages[0]: Invalid value: "Sometimes": allowed stages are`,
		}},
		{policyHead + "rules: [{level: None, nonResourceURLs: [version, /a*b, '*']}]", []string{
			`rules[0].nonResourceURLs[0]: Invalid value: "version": non-resource URL rules must begin with a '/'`, `rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be`,
		}},
		{policyHead + "rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]", []string{`rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`}},
		{policyHead + "rules: [{level: None, resources: [{group: A/v1}, {resourceNames: [a]}]}]", []string{
			`rules[0].resources[0].group: Invalid value: "A/v1": a lowercase RFC 1123 subdomain`, `rules[0].resources[1].resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource`,
		}},
	} {
		_, err := decodePolicy(t, meta.Platform, test.text)
		if err == nil {
			t.Errorf("%q is a policy", test.text)
			continue
		}
		for _, fault := range test.faults {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: %v\ndoes not say %q", test.text, err, fault)
			}
		}
	}
	if _, err := decodePolicy(t, meta.Kubernetes, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]"); err != nil {
		t.Errorf("the other profile: %v", err)
	}
}

// TestDocumentedPolicy checks that the policy in the documentation is valid and does not record
// bodies that contain secrets.
func TestDocumentedPolicy(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "    apiVersion: audit.platform.io/v1")
	block, _, _ := strings.Cut(rest, "\n\n")
	p, err := decodePolicy(t, meta.Platform, strings.ReplaceAll("apiVersion: audit.platform.io/v1"+block, "\n    ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]audit.Level{
		"create :secrets a/": audit.Metadata, "patch :configmaps a/b": audit.Metadata, "create :serviceaccounts/token a/b": audit.Metadata,
		"create authentication.platform.io:tokenreviews": audit.Metadata, "create :pods a/": audit.Request, "get :pods a/b": audit.Metadata,
		"get /readyz": audit.None, "get /backup": audit.Metadata,
	} {
		a := request("jane", nil, text)
		if got := p.Decide(&a).Level; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// FuzzPolicy checks that a policy file is either rejected or decides every request, and that the
// decision for a request without a matching rule is to record nothing.
func FuzzPolicy(f *testing.F) {
	for _, rules := range []string{
		"rules: []", "rules: [{level: Metadata}]", "omitStages: [RequestReceived]\nrules: [{level: Request, verbs: [get], resources: [{group: '', resources: ['pods/*', '*/log']}]}]",
		"rules: [{level: None, nonResourceURLs: ['/x*'], omitManagedFields: true}]", "rules: [{level: RequestResponse, users: [a], userGroups: [b], namespaces: ['']}]",
	} {
		f.Add(policyHead + rules)
	}
	kinds := must.Get(catalog.New(meta.Platform))(f)
	f.Fuzz(func(t *testing.T, text string) {
		config, err := kinds.DecodeConfig("AuditPolicy", []byte(text))
		if err != nil {
			return
		}
		p := audit.NewPolicy(config)
		for _, asked := range []string{"get :pods/log ns/p", "create apps:deployments ns/d", "get /x/y", "delete :nodes n"} {
			a := request("a", []string{"b"}, asked)
			if d := p.Decide(&a); d.Level != 0 && len(config.Objects("rules")) == 0 {
				t.Errorf("%q without a rule: %s is recorded at level %v", text, asked, d.Level)
			}
		}
	})
}
