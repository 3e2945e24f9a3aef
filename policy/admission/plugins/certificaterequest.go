package plugins

import (
	"crypto/x509/pkix"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// The resource that the plugins of certificate requests run for.
const (
	certificateGroup    = "certificates.platform.io"
	certificateRequests = certificateGroup + "/certificatesigningrequests"
)

// CertificateRequester writes into a new certificate request who asks for it. Signers decide by these
// fields, so they must not be what the client says. The plugin has no name, for it cannot be switched off.
func CertificateRequester() admission.Registration {
	return admission.Registration{
		Resources: []string{certificateRequests},
		Plugin:    request.Plugin{Operations: request.OnCreate, Mutator: csrRequester{}},
	}
}

// csrRequester has no state: all that it writes is the user of the request.
type csrRequester struct{}

// Handles implements request.Mutator. The server's own writes have no user, and stay as they are.
func (csrRequester) Handles(a *request.Attributes) bool { return a.User != nil }

// Admit implements request.Mutator. It overwrites what the client has put into these fields.
func (csrRequester) Admit(a *request.Attributes) error {
	spec := a.New.EnsureObject("spec")
	for name, value := range a.User.Tree() {
		spec[name] = value
	}
	return nil
}

// CertificateSubjectRestriction keeps clients from asking for a certificate that would put them above all
// authorization. Members of that group pass every authorizer, and a certificate cannot be taken back before
// it expires. Only the signer of client certificates for this server can make them.
func CertificateSubjectRestriction(naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "CertificateSubjectRestriction", Resources: []string{certificateRequests},
		Plugin: request.Plugin{Operations: request.OnCreate, Validator: subjectRestriction{signer: naming.Translate("platform.io/apiserver-client")}},
	}
}

// subjectRestriction knows the one signer whose certificates this server takes for users.
type subjectRestriction struct {
	signer string
}

// Handles implements request.Validator.
func (p subjectRestriction) Handles(a *request.Attributes) bool { return signerOf(a.New) == p.signer }

// Validate implements request.Validator.
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

// RequestedSubject is the subject that a CertificateSigningRequest asks for.
func RequestedSubject(object tree.Tree) (pkix.Name, error) {
	r, err := certs.ParseRequest(object.Object("spec").String("request"))
	if err != nil {
		return pkix.Name{}, err
	}
	return r.Subject, nil
}
