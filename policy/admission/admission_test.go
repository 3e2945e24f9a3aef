package admission_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// signerAuthorizer allows a verb on certain signers.
type signerAuthorizer struct{ verb, names string }

func (s signerAuthorizer) Authorize(a authz.Attributes) (authz.Decision, string) {
	if a.Verb == s.verb && a.Resource == "signers" && a.Group == "certificates.platform.io" && strings.Contains(" "+s.names+" ", " "+a.Name+" ") {
		return authz.Allow, ""
	}
	return authz.NoOpinion, ""
}

// singleObject is the one object that there is.
type singleObject struct{ tree tree.Tree }

func (s singleObject) Get(r meta.GroupResource, _, name string) *policy.Object {
	if s.tree == nil || name != "c" || r.String() != "certificatesigningrequests.certificates.platform.io" {
		return nil
	}
	return &policy.Object{Tree: s.tree}
}

func (singleObject) Inform(context.Context, meta.GroupResource, func(policy.Change)) error {
	return nil
}

func newChain(switches admission.PluginConfig, may authz.Authorizer, objects policy.Objects) *admission.Chain {
	return admission.New(meta.Platform, switches, []admission.Registration{
		admission.CertificateRequester(), admission.CertificateSubjectRestriction(meta.Platform),
		admission.CertificateApproval(may, objects, meta.Platform), admission.CertificateSigning(may, objects, meta.Platform),
		admission.StorageObjectInUseProtection(meta.Platform), admission.TaintNodesByCondition(meta.Platform),
	})
}

func kind(group, resource string) *schema.Kind {
	return &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: group}, Resource: resource, Storage: meta.GroupResource{Group: group, Resource: resource}}
}

func parseTree(t *testing.T, text string) tree.Tree {
	t.Helper()
	if text == "" {
		return nil
	}
	var v tree.Tree
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// request for a certificate with a subject, as spec.request.
func certificateRequest(t *testing.T, organizations ...string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: organizations}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func TestPlugins(t *testing.T) {
	masters, plain := certificateRequest(t, "system:masters"), certificateRequest(t, "dev")
	jane := &authn.User{Name: "jane", UID: "u1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}
	const csr, client = "certificates.platform.io/certificatesigningrequests", "platform.io/apiserver-client"
	signed := func(status string) string { return `{"spec":{"signerName":"example.com/s"},"status":` + status + `}` }
	for _, test := range []struct {
		name, resource, old, new string
		switches                 admission.PluginConfig
		may                      signerAuthorizer
		want, fault              string // want is New afterwards, if it changes
	}{
		{name: "a claim is protected", resource: "/persistentvolumeclaims", new: `{"metadata":{}}`,
			want: `{"metadata":{"finalizers":["platform.io/pvc-protection"]}}`},
		{name: "beside other finalizers", resource: "/persistentvolumes", new: `{"metadata":{"finalizers":["a.b/c"]}}`,
			want: `{"metadata":{"finalizers":["a.b/c","platform.io/pv-protection"]}}`},
		{name: "once", resource: "/persistentvolumes", new: `{"metadata":{"finalizers":["platform.io/pv-protection"]}}`},
		{name: "only when it is new", resource: "/persistentvolumes", old: `{}`, new: `{"metadata":{}}`},
		{name: "switched off", resource: "/persistentvolumes", new: `{"metadata":{}}`,
			switches: admission.PluginConfig{Disabled: []string{"StorageObjectInUseProtection"}}},
		{name: "a node is tainted", resource: "/nodes", new: `{"spec":{"taints":[{"effect":"NoExecute","key":"node.platform.io/not-ready"}]}}`,
			want: `{"spec":{"taints":[{"effect":"NoExecute","key":"node.platform.io/not-ready"},{"effect":"NoSchedule","key":"node.platform.io/not-ready"}]}}`},
		{name: "a node that is already", resource: "/nodes", new: `{"spec":{"taints":[{"effect":"NoSchedule","key":"node.platform.io/not-ready"}]}}`},
		{name: "who asks for a certificate", resource: csr, new: `{"spec":{"signerName":"a/b"}}`,
			want: `{"spec":{"extra":{"k":["v"]},"groups":["dev"],"signerName":"a/b","uid":"u1","username":"jane"}}`},
		{name: "a certificate of masters", resource: csr, new: `{"spec":{"signerName":"` + client + `","request":"` + masters + `"}}`,
			fault: "use of " + client + " signer with system:masters group is not allowed"},
		{name: "a delete of it", resource: csr, old: `{"spec":{"signerName":"` + client + `","request":"` + masters + `"}}`},
		{name: "approval without the right", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`),
			may: signerAuthorizer{"sign", "example.com/s example.com/*"}, fault: `user not permitted to approve requests with signerName "example.com/s"`},
		{name: "approval by name", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`), may: signerAuthorizer{"approve", "example.com/s"}},
		{name: "approval by domain", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`), may: signerAuthorizer{"approve", "example.com/*"}},
		{name: "approval of another signer", resource: csr + "/approval", old: signed(`{}`), new: `{"spec":{"signerName":"mine.com/s"}}`,
			may: signerAuthorizer{"approve", "mine.com/s"}, fault: `signerName "example.com/s"`},
		{name: "signing without the right", resource: csr + "/status", old: signed(`{}`), new: signed(`{"certificate":"x"}`),
			may: signerAuthorizer{"approve", "example.com/s"}, fault: `user not permitted to sign requests with signerName "example.com/s"`},
		{name: "a verdict without the right", resource: csr + "/status", old: signed(`{}`), new: signed(`{"conditions":[{"type":"Failed"}]}`),
			fault: `not permitted to sign`},
		{name: "signing", resource: csr + "/status", old: signed(`{}`), new: signed(`{"certificate":"x"}`), may: signerAuthorizer{"sign", "example.com/*"}},
		{name: "a status that decides nothing", resource: csr + "/status", old: signed(`{"certificate":"x"}`), new: signed(`{"certificate":"x"}`)},
	} {
		parts := append(strings.SplitN(test.resource, "/", 3), "")
		k := kind(parts[0], parts[1])
		a := newChain(test.switches, test.may, singleObject{parseTree(t, test.old)}).For(jane, k, parts[2], meta.Key{Name: "c"})
		old, wanted := parseTree(t, test.old), parseTree(t, test.new)
		var err error
		if a != nil {
			err = a.Admit(request.Change{Mutation: &request.Mutation{Kind: k, Subresource: parts[2]}, Old: old, New: wanted})
		}
		switch {
		case test.fault != "":
			if err == nil || !strings.Contains(err.Error(), test.fault) || !strings.Contains(err.Error(), "forbidden") {
				t.Errorf("%s: error %v, want one with %q", test.name, err, test.fault)
			}
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		default:
			want := test.want
			if want == "" {
				want = toJSON(t, parseTree(t, test.new))
			}
			if got := toJSON(t, wanted); got != want {
				t.Errorf("%s: got %s, want %s", test.name, got, want)
			}
			if got, want := toJSON(t, old), toJSON(t, parseTree(t, test.old)); got != want {
				t.Errorf("%s: the old state became %s", test.name, got)
			}
		}
	}
	k := kind(splitGroupResource(csr))
	replaced := newChain(admission.PluginConfig{}, signerAuthorizer{"approve", "mine.com/s"}, singleObject{parseTree(t, `{"spec":{"signerName":"mine.com/s"}}`)}).For(jane, k, "approval", meta.Key{Name: "c"})
	if err := replaced.Admit(request.Change{Mutation: &request.Mutation{Kind: k, Subresource: "approval"}, Old: parseTree(t, signed(`{}`)), New: parseTree(t, signed(`{}`))}); err == nil {
		t.Error("the right on the signer of a request that was there before is good for the one that took its place")
	}
	if err := newChain(admission.PluginConfig{}, nil, nil).For(jane, kind(splitGroupResource(csr)), "", meta.Key{}).Admit(request.Change{
		Mutation: &request.Mutation{Kind: kind(splitGroupResource(csr))}, New: parseTree(t, `{"spec":{"signerName":"`+client+`","request":"`+plain+`"}}`)}); err != nil {
		t.Errorf("a certificate of another group: %v", err)
	}
}

func splitGroupResource(resource string) (group, name string) {
	group, name, _ = strings.Cut(resource, "/")
	return group, name
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is not registered, or switched off, costs nothing: there is no Admission.
func TestNoPlugins(t *testing.T) {
	c := newChain(admission.PluginConfig{Disabled: []string{"TaintNodesByCondition"}}, nil, nil)
	for _, resource := range []string{"configmaps", "nodes"} {
		if a := c.For(nil, kind("", resource), "", meta.Key{}); a != nil {
			t.Errorf("%s: %v has a say", resource, a)
		}
	}
	if a := c.For(nil, kind("", "persistentvolumes"), "status", meta.Key{}); a != nil {
		t.Errorf("a sub-resource: %v has a say", a)
	}
	if a := (*admission.Chain)(nil).For(nil, kind("", "nodes"), "", meta.Key{}); a != nil {
		t.Errorf("no chain: %v has a say", a)
	}
}

func TestEnabledPlugin(t *testing.T) {
	off := admission.Registration{Name: "Loud", DisabledByDefault: true, Resources: []string{"/pods"}, Plugin: denyAll{}}
	for _, on := range []bool{false, true} {
		var s admission.PluginConfig
		if on {
			s.Enabled = []string{"Loud"}
		}
		a := admission.New(meta.Platform, s, []admission.Registration{off}).For(nil, kind("", "pods"), "", meta.Key{})
		if (a != nil) != on {
			t.Errorf("switched on %t: %v", on, a)
		}
	}
	if names := admission.Names([]admission.Registration{off, {Name: "A"}, {}, {Name: "A"}}); strings.Join(names, " ") != "A Loud" {
		t.Errorf("names %v", names)
	}
}

// denyAll refuses everything.
type denyAll struct{}

func (denyAll) Admit(a *admission.Attributes) error { return a.Forbidden("no") }
