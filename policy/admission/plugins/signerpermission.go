package plugins

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// CertificateApproval asks of who approves or denies a request the right on its signer. The right to update
// the approval sub-resource alone is for all signers; this makes it one for each. The signer is that of the
// old object: it cannot change.
func CertificateApproval(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "CertificateApproval", Resources: []string{certificateRequests + "/approval"},
		Plugin: request.Plugin{Stage: request.MayBlock, Operations: request.OnUpdate, Validator: newSignerPermission(authorizer, naming, "approve", "approve requests with signerName", func(a *request.Attributes) []string {
			return []string{signerOf(a.Old)}
		})},
	}
}

// CertificateSigning asks of who signs a request, or says that it cannot be signed, the right on its
// signer. A write of the status that changes neither needs none.
func CertificateSigning(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "CertificateSigning", Resources: []string{certificateRequests + "/status"},
		Plugin: request.Plugin{Stage: request.MayBlock, Operations: request.OnUpdate, SkipsNoOps: true, Validator: newSignerPermission(authorizer, naming, "sign", "sign requests with signerName", func(a *request.Attributes) []string {
			old, wanted := a.Old.Object("status"), a.New.Object("status")
			if tree.SemanticEqual(old["certificate"], wanted["certificate"]) && tree.SemanticEqual(old["conditions"], wanted["conditions"]) {
				return nil
			}
			return []string{signerOf(a.Old)}
		})},
	}
}

// ClusterTrustBundleAttest asks of who writes a bundle of a signer the right to attest for that. An update
// that moves a bundle from one signer to another needs both rights. Bundles without a signer are
// unrestricted.
func ClusterTrustBundleAttest(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "ClusterTrustBundleAttest", Resources: []string{certificateGroup + "/clustertrustbundles"},
		Plugin: request.Plugin{Stage: request.MayBlock, Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Validator: newSignerPermission(authorizer, naming, "attest", "attest for signerName", func(a *request.Attributes) []string {
			if changesOwnersOnly(a.Old, a.New) {
				return nil
			}
			signers := slices.Compact([]string{signerOf(a.New), signerOf(a.Old)})
			return slices.DeleteFunc(signers, func(name string) bool { return name == "" })
		})},
	}
}

// signerPermission asks for a verb on a signer.
type signerPermission struct {
	authorizer authz.Authorizer
	group      string // of signers
	verb, what string // what is done, for messages
	// signers are those on which a change needs the right; nil if on none.
	signers func(a *request.Attributes) []string
}

// newSignerPermission makes the plugin for a verb. what completes the sentence "user not permitted to".
func newSignerPermission(authorizer authz.Authorizer, naming *meta.Naming, verb, what string, signers func(*request.Attributes) []string) signerPermission {
	return signerPermission{authorizer, naming.Translate(certificateGroup), verb, what, signers}
}

// Handles implements request.Validator.
func (p signerPermission) Handles(a *request.Attributes) bool {
	return len(p.signers(a)) > 0
}

// Validate implements request.Validator. It requires the right on every signer that the change concerns. The
// authorizer may be remote.
func (p signerPermission) Validate(a *request.Attributes) error {
	for _, signer := range p.signers(a) {
		if !p.allows(a.User, signer) {
			return a.Forbidden(fmt.Sprintf("user not permitted to %s %q", p.what, signer))
		}
	}
	return nil
}

// allows tells whether a user has the right on a signer, or on all of its domain. A signer is named
// "domain/path"; roles grant single ones or, with "domain/*", all of an operator.
func (p signerPermission) allows(user *authn.User, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		decision, _ := p.authorizer.Authorize(authz.Attributes{
			User: user, Verb: p.verb, ResourceRequest: true, Group: p.group, Version: "*", Resource: "signers", Name: name,
		})
		if decision == authz.Allow {
			return true
		}
	}
	return false
}

// signerOf is the signer of a request or of a bundle; both have it in the same place.
func signerOf(request tree.Tree) string {
	return request.Object("spec").String("signerName")
}

// changesOwnersOnly tells whether an update changes nothing but the owners and finalizers of an object, as the
// garbage collector does.
func changesOwnersOnly(old, wanted tree.Tree) bool {
	if old == nil {
		return false
	}
	was, now := tree.Clone(old).(tree.Tree), tree.Clone(wanted).(tree.Tree)
	for _, t := range []tree.Tree{was, now} {
		for _, name := range []string{"ownerReferences", "finalizers", "managedFields", "resourceVersion"} {
			delete(t.Object("metadata"), name)
		}
	}
	return tree.SemanticEqual(was, now)
}
