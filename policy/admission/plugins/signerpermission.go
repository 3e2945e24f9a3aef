package plugins

import (
	"fmt"
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
	return admission.Register("CertificateApproval", newSignerPermission(authorizer, naming, "approve", "approve requests with signerName", func(a *request.Attributes) string { return signerOf(a.Old) }))
}

// CertificateSigning returns the plugin that requires the verb sign on the signer. It checks status
// updates that change the certificate or conditions.
func CertificateSigning(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("CertificateSigning", newSignerPermission(authorizer, naming, "sign", "sign requests with signerName", signerOfStatus))
}

func signerOfStatus(a *request.Attributes) string {
	if tree.SemanticEqual(a.Old["status"], a.New["status"]) {
		return ""
	}
	return signerOf(a.Old)
}

// PodCertificateSigning returns the plugin that requires the verb sign on the signer of a
// PodCertificateRequest. The plugin cannot be disabled. It rejects requests with a 422, not a 403.
func PodCertificateSigning(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("PodCertificateSigning", podCertificateSigning{newSignerPermission(authorizer, naming, "sign", "", signerOfStatus)})
}

type podCertificateSigning struct{ signerPermission }

func (p podCertificateSigning) Validate(a *request.Attributes) error {
	signer := p.signer(a)
	if p.allows(a.User, signer) {
		return nil
	}
	return a.Invalid([]meta.Cause{{
		Type: meta.CauseForbidden, Field: "spec.signerName",
		Message: fmt.Sprintf("Forbidden: User %q is not permitted to \"sign\" for signer %q", a.User.Name, signer),
	}})
}

// ClusterTrustBundleAttest returns the plugin that requires the verb attest on a bundle's signer.
// Bundles without a signer are unrestricted.
func ClusterTrustBundleAttest(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("ClusterTrustBundleAttest", newSignerPermission(authorizer, naming, "attest", "attest for signerName", func(a *request.Attributes) string {
		if changesOwnersOnly(a.Old, a.New) {
			return ""
		}
		return signerOf(a.New)
	}))
}

type signerPermission struct {
	authorizer authz.Authorizer
	group      string // API group of the resource signers
	verb, what string // what describes the action in messages
	// signer returns the signer for which the user needs the permission, or "".
	signer func(a *request.Attributes) string
}

// newSignerPermission returns the plugin for a verb. what completes the error message "user not
// permitted to …".
func newSignerPermission(authorizer authz.Authorizer, naming *meta.Naming, verb, what string, signer func(*request.Attributes) string) signerPermission {
	return signerPermission{authorizer, naming.Translate(certificateGroup), verb, what, signer}
}

func (p signerPermission) Handles(a *request.Attributes) bool {
	return p.signer(a) != ""
}

// Validate rejects the request unless the user has the permission. The authorizer may be remote.
func (p signerPermission) Validate(a *request.Attributes) error {
	if signer := p.signer(a); !p.allows(a.User, signer) {
		return a.Forbidden(fmt.Sprintf("user not permitted to %s %q", p.what, signer))
	}
	return nil
}

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
