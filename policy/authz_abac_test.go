package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// policyAuthz returns a line of a policy file.
func policyAuthz(spec string) string {
	return `{"apiVersion":"abac.authorization.platform.io/v1beta1","kind":"Policy","spec":{` + spec + "}}\n"
}

func TestABAC(t *testing.T) {
	file := "# who may do what\n\n" +
		policyAuthz(`"user":"alice","apiGroup":"*","resource":"*","namespace":"*","nonResourcePath":"*"`) +
		policyAuthz(`"user":"kubelet","readonly":true,"resource":"pods","namespace":"*"`) +
		"   \n" + policyAuthz(`"group":"devs","apiGroup":"apps","resource":"deployments","namespace":"dev"`) +
		policyAuthz(`"user":"*","readonly":true,"nonResourcePath":"/docs/*"`) +
		policyAuthz(`"user":"bob","group":"ops","nonResourcePath":"/metrics"`) +
		policyAuthz(`"user":"carl","group":"*","resource":"nodes"`) +
		`{"user":"dora","readonly":true}` + "\n" + `{"user":"emil","namespace":"dev"}` + "\n" + `{"kind":"Policy","resource":"events"}`
	mode, err := authz.ParseABAC(strings.NewReader(file), meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	all := "system:authenticated"
	for _, c := range []struct {
		user, groups, verb, what string // what is a path or group/resource/namespace
		want                     authz.Decision
	}{
		{"alice", all, "delete", "apps/deployments/x", authz.Allow},
		{"alice", all, "post", "/any", authz.Allow},
		{"kubelet", all, "watch", "/pods/", authz.Allow},
		{"kubelet", all, "get", "/pods/a", authz.Allow},
		{"kubelet", all, "create", "/pods/a", authz.NoOpinion},
		{"kubelet", all, "deletecollection", "/pods/a", authz.NoOpinion},
		{"kubelet", all, "get", "/secrets/a", authz.NoOpinion},
		{"kubelet", all, "get", "apps/pods/a", authz.NoOpinion},
		{"x", "devs", "create", "apps/deployments/dev", authz.Allow},
		{"x", "devs", "create", "apps/deployments/prod", authz.NoOpinion},
		{"x", "devs", "list", "apps/deployments/", authz.NoOpinion},
		{"devs", all, "create", "apps/deployments/dev", authz.NoOpinion},
		{"x", all, "get", "/docs/a", authz.Allow},
		{"x", all, "post", "/docs/a", authz.NoOpinion},
		{"x", all, "get", "/doc", authz.NoOpinion},
		{"system:anonymous", "system:unauthenticated", "get", "/docs/a", authz.NoOpinion},
		{"bob", "ops", "get", "/metrics", authz.Allow},
		{"bob", all, "get", "/metrics", authz.NoOpinion},
		{"x", "ops", "get", "/metrics", authz.NoOpinion},
		{"carl", all, "delete", "/nodes/", authz.Allow},
		{"someone", all, "delete", "/nodes/", authz.Allow}, // "*" matches every authenticated user
	} {
		a := authz.Attributes{User: &authn.User{Name: c.user, Groups: []string{c.groups}}, Verb: c.verb, Path: c.what}
		if parts := strings.Split(c.what, "/"); len(parts) == 3 && parts[1] != "docs" {
			a.ResourceRequest, a.Group, a.Resource, a.Namespace, a.Path = true, parts[0], parts[1], parts[2], ""
		}
		if got, _ := mode.Authorize(a); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	for _, c := range []struct {
		user, verb, group, resource, namespace, path string
		want                                         authz.Decision
	}{ // lines without a version
		{"dora", "get", "apps", "deployments", "any", "", authz.Allow},
		{"dora", "create", "apps", "deployments", "any", "", authz.NoOpinion},
		{"dora", "get", "", "", "", "/any", authz.Allow},
		{"emil", "create", "apps", "deployments", "dev", "", authz.Allow},
		{"emil", "create", "apps", "deployments", "prod", "", authz.NoOpinion},
		{"emil", "get", "", "", "", "/any", authz.NoOpinion},
		{"x", "create", "events.platform.io", "events", "any", "", authz.Allow},
	} {
		a := authz.Attributes{
			User: &authn.User{Name: c.user, Groups: []string{all}}, Verb: c.verb, Path: c.path,
			ResourceRequest: c.path == "", Group: c.group, Resource: c.resource, Namespace: c.namespace,
		}
		if got, _ := mode.Authorize(a); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	if d, _ := mode.Authorize(authz.Attributes{Verb: "get", Path: "/docs/a"}); d != authz.NoOpinion {
		t.Error("a request of nobody is allowed")
	}
	got := mode.RulesFor(&authn.User{Name: "kubelet", Groups: []string{all}}, "dev")
	read := []string{"get", "list", "watch"}
	want := authz.RuleSet{
		ResourceRules: []authz.ResourceRule{
			{Verbs: read, Groups: []string{""}, Resources: []string{"pods"}}, {Verbs: []string{"*"}, Groups: []string{"*"}, Resources: []string{"events"}},
		},
		NonResourceRules: []authz.NonResourceRule{{Verbs: read, Paths: []string{"/docs/*"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestABACErrors(t *testing.T) {
	for file, want := range map[string]string{
		"x":                     "line 1: invalid character 'x'",
		"\n#\n{}":               `line 3: the line names nothing`,
		`{"spec":{"user":"a"}}`: `line 1: apiVersion "", kind "": must be`,
		policyAuthz(`"user":"a"`) + policyAuthz(`"usr":1`):            `line 2: json: unknown field "usr"`,
		policyAuthz(`"resource":"pods"`):                              "line 1: spec names neither a user nor a group",
		`{"usr":"bob"}`:                                               `line 1: json: unknown field "usr"`,
		strings.ReplaceAll(policyAuthz(`"user":"a"`), "}}\n", "}}{}"): "line 1: more than one object",
		strings.ReplaceAll(policyAuthz(`"user":"a"`), "Policy", "P"):  `line 1: apiVersion "abac.authorization.platform.io/v1beta1", kind "P"`,
		"#\n" + strings.Repeat("x", 2<<20):                            "line 2: bufio.Scanner: token too long",
		"x\ny":                                                        "\nline 2: ",
	} {
		if _, err := authz.ParseABAC(strings.NewReader(file), meta.Platform); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %s", file, err, want)
		}
	}
	other := strings.ReplaceAll(policyAuthz(`"user":"a"`), "platform.io", "kubernetes.io")
	if _, err := authz.ParseABAC(strings.NewReader(other), meta.Kubernetes); err != nil {
		t.Error(err)
	}
}
