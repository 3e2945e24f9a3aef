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

// CertificateApproval returns the plugin that requires the verb approve on the signer. Without the
// plugin, permission to update the approval subresource would cover all signers. The plugin reads
// the signer from the old object, because the signer is immutable.
func CertificateApproval(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("CertificateApproval", newSignerPermission(authorizer, naming, "approve", "approve requests with signerName", func(a *request.Attributes) []string {
		return []string{signerOf(a.Old)}
	}))
}

// CertificateSigning returns the plugin that requires the verb sign on the signer. It checks status
// updates that change the certificate or conditions.
func CertificateSigning(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("CertificateSigning", newSignerPermission(authorizer, naming, "sign", "sign requests with signerName", func(a *request.Attributes) []string {
		old, wanted := a.Old.Object("status"), a.New.Object("status")
		if tree.SemanticEqual(old["certificate"], wanted["certificate"]) && tree.SemanticEqual(old["conditions"], wanted["conditions"]) {
			return nil
		}
		return []string{signerOf(a.Old)}
	}))
}

// ClusterTrustBundleAttest returns the plugin that requires the verb attest on a bundle's signer. A
// change of the signer requires the verb for both signers. Bundles without a signer are
// unrestricted.
func ClusterTrustBundleAttest(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("ClusterTrustBundleAttest", newSignerPermission(authorizer, naming, "attest", "attest for signerName", func(a *request.Attributes) []string {
		if changesOwnersOnly(a.Old, a.New) {
			return nil
		}
		signers := slices.Compact([]string{signerOf(a.New), signerOf(a.Old)})
		return slices.DeleteFunc(signers, func(name string) bool { return name == "" })
	}))
}

type signerPermission struct {
	authorizer authz.Authorizer
	group      string // of signers
	verb, what string // what describes the action in messages
	// signers returns the signers for which the user needs the permission.
	signers func(a *request.Attributes) []string
}

// newSignerPermission takes the parameter what for the error message "user not permitted to …".
func newSignerPermission(authorizer authz.Authorizer, naming *meta.Naming, verb, what string, signers func(*request.Attributes) []string) signerPermission {
	return signerPermission{authorizer, naming.Translate(certificateGroup), verb, what, signers}
}

func (p signerPermission) Handles(a *request.Attributes) bool {
	return len(p.signers(a)) > 0
}

// Validate rejects the request unless the user has the permission for every signer. The authorizer
// may be remote.
func (p signerPermission) Validate(a *request.Attributes) error {
	for _, signer := range p.signers(a) {
		if !p.allows(a.User, signer) {
			return a.Forbidden(fmt.Sprintf("user not permitted to %s %q", p.what, signer))
		}
	}
	return nil
}

// allows reports whether a user has the permission for a signer "domain/path" or "domain/*".
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

func signerOf(request tree.Tree) string {
	return request.Object("spec").String("signerName")
}

// changesOwnersOnly reports whether an update changes only owners and finalizers, as the garbage
// collector does.
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
