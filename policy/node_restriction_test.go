package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
)

func TestRestriction(t *testing.T) {
	objects := newCluster(t, map[string]object{
		"nodes /n1": object(`{"metadata":{"uid":"u-n1"}}`),
		"pods ns/p1": object(`{"metadata":{"uid":"u-p1"},"spec":{"nodeName":"n1","serviceAccountName":"robot","volumes":[{"name":"v"},{"name":"w","projected":{"sources":[
			{"secret":{"name":"s"}},{"podCertificate":{"signerName":"example.com/s"}}]}}]}}`),
		"pods ns/m1": object(`{"metadata":{"uid":"u-m1","annotations":{"platform.io/config.mirror":"x"}},"spec":{"nodeName":"n1"}}`),
		"pods ns/p2": object(`{"metadata":{"uid":"u-p2"},"spec":{"nodeName":"n2"}}`),
		"pods ns/p4": object(`{"metadata":{"uid":"u-p4"},"spec":{"nodeName":"n1","serviceAccountName":"none"}}`),

		"serviceaccounts ns/robot": object(`{"metadata":{"uid":"u-robot"}}`),
	})
	registration := node.Restriction(meta.Platform, objects, authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
		switch {
		case a.Verb != "request-serviceaccounts-podcertificate-signer" || a.Namespace != "ns" || a.Name != "robot":
			return authz.Allow, "another request"
		case a.Resource == "example.com:allowed":
			return authz.Allow, ""
		case a.Resource == "example.com:unknown":
			return authz.Failed, "no response"
		}
		return authz.NoOpinion, ""
	}), false)[0]
	if registration.Name != "NodeRestriction" {
		t.Errorf("got %+v", registration)
	}
	for _, c := range readCases[[]struct {
		Resource, Key, Fault string
		Old, New             object
	}](t, "node/restriction") {
		resource, sub, _ := strings.Cut(c.Resource, "/")
		namespace, name, ok := strings.Cut(c.Key, "/")
		if !ok {
			namespace, name = "", c.Key
		}
		attempt := func(user *authn.User) error {
			return registration.Mutator.Admit(&request.Attributes{
				User: user, Kind: &schema.Kind{Resource: resource}, Subresource: sub, Key: meta.Key{Namespace: namespace, Name: name},
				Old: parseTree(t, string(c.Old)), New: parseTree(t, string(c.New)),
			})
		}
		if err := attempt(node1); (err != nil) != (c.Fault != "") || err != nil && !strings.Contains(err.Error(), c.Fault) {
			t.Errorf("%s %s %s, old %s: got %v, want %q", c.Resource, c.Key, c.New, c.Old, err, c.Fault)
		}
		if err := attempt(&authn.User{Name: node1.Name}); err != nil {
			t.Errorf("%s %s by another user: %v", c.Resource, c.New, err)
		}
		if err := attempt(&authn.User{Name: "system:node:", Groups: node1.Groups}); err == nil {
			t.Errorf("%s %s by a node without a name is admitted", c.Resource, c.New)
		}
	}
}

func TestNodeAudiences(t *testing.T) {
	objects := newCluster(t, readCases[map[string]object](t, "node/audience-objects"))
	r := node.Restriction(meta.Platform, objects, authorizerFunc(func(a authz.Attributes) (authz.Decision, string) {
		switch {
		case a.Verb != "request-serviceaccounts-token-audience" || a.Namespace != "ns" || a.Name != "robot" || a.Group != "" || a.Version != "v1":
			return authz.Deny, "another question"
		case a.Resource == "allowed":
			return authz.Allow, ""
		case a.Resource == "unknown":
			return authz.Failed, "no answer"
		}
		return authz.NoOpinion, ""
	}), false)[1]
	accounts := &schema.Kind{Resource: "serviceaccounts"}
	if !slices.Equal(r.Resources, []string{"/serviceaccounts/token"}) || r.Stage != request.MayBlock {
		t.Error("what waits is another thing than a request for a token")
	}
	for _, c := range readCases[[]struct {
		Volumes, Audiences object
		Fault              string
	}](t, "node/audiences") {
		objects.set(t, "pods ns/p", `{"spec":{"volumes":`+string(c.Volumes)+`}}`)
		err := r.Mutator.Admit(&request.Attributes{
			User: &authn.User{Name: "system:node:n1"}, Kind: accounts, Subresource: "token", Key: meta.Key{Namespace: "ns", Name: "robot"},
			New: parseTree(t, `{"spec":{"audiences":`+string(c.Audiences)+`,"boundObjectRef":{"name":"p"}}}`),
		})
		if (err != nil) != (c.Fault != "") || err != nil && !strings.Contains(err.Error(), c.Fault) {
			t.Errorf("%s %s: got %v, want %q", c.Volumes, c.Audiences, err, c.Fault)
		}
	}
}
