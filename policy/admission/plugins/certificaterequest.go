package plugins

import (
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

const (
	certificateGroup    = "certificates.platform.io"
	certificateRequests = certificateGroup + "/certificatesigningrequests"
)

// CertificateRequester returns the plugin that records the requester in new
// CertificateSigningRequests. The plugin cannot be disabled, because signers rely on these fields.
func CertificateRequester() admission.Registration {
	return admission.Register("CertificateRequester", csrRequester{})
}

type csrRequester struct{}

// Handles skips the server's own writes, which have no user.
func (csrRequester) Handles(a *request.Attributes) bool { return a.User != nil }

// Admit overwrites values set by the client.
func (csrRequester) Admit(a *request.Attributes) error {
	spec := a.New.EnsureObject("spec")
	maps.Copy(spec, a.User.Tree())
	return nil
}

// CertificateSubjectRestriction returns the plugin that rejects requests for client certificates of
// the group system:masters. That group passes every authorizer, and certificates cannot be revoked.
func CertificateSubjectRestriction(naming *meta.Naming) admission.Registration {
	return admission.Register("CertificateSubjectRestriction", subjectRestriction{signer: naming.Translate("platform.io/apiserver-client")})
}

type subjectRestriction struct {
	signer string
}

func (p subjectRestriction) Handles(a *request.Attributes) bool { return signerOf(a.New) == p.signer }

func (p subjectRestriction) Validate(a *request.Attributes) error {
	subject, err := RequestedSubject(a.New)
	if err != nil {
		return a.Forbidden(fmt.Sprintf("failed to parse CSR: %v", err))
	}
	if slices.Contains(subject.Organization, authn.GroupMasters) {
		return a.Forbidden(fmt.Sprintf("use of %s signer with %s group is not allowed", p.signer, authn.GroupMasters))
	}
	return nil
}

// RequestedSubject returns the subject in a CertificateSigningRequest.
func RequestedSubject(object tree.Tree) (pkix.Name, error) {
	r, err := certs.ParseRequest(object.Object("spec").String("request"))
	if err != nil {
		return pkix.Name{}, err
	}
	return r.Subject, nil
}
