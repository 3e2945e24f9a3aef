package admission

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// The resource that the plugins of this file run for.
const (
	certificateGroup    = "certificates.platform.io"
	certificateRequests = certificateGroup + "/certificatesigningrequests"
)

// CertificateRequester writes into a new certificate request who asks for it.
func CertificateRequester() Registration {
	return Registration{Resources: []string{certificateRequests}, Operations: []request.Verb{request.Create}, Plugin: csrRequester{}}
}

type csrRequester struct{}

func (csrRequester) Admit(a *Attributes) error {
	if !a.IsCreate() || a.User == nil {
		return nil
	}
	spec := a.New.EnsureObject("spec")
	for name, value := range a.User.Tree() {
		spec[name] = value
	}
	return nil
}

// CertificateSubjectRestriction keeps clients from asking for a certificate that would put them above
// all authorization.
func CertificateSubjectRestriction(naming *meta.Naming) Registration {
	return Registration{
		Name: "CertificateSubjectRestriction", Resources: []string{certificateRequests}, Operations: []request.Verb{request.Create},
		Plugin: subjectRestriction{naming.Translate("platform.io/apiserver-client")},
	}
}

type subjectRestriction struct{ signer string }

func (p subjectRestriction) Admit(a *Attributes) error {
	if !a.IsCreate() || signerOf(a.New) != p.signer {
		return nil
	}
	subject, ok := RequestedSubject(a.New)
	if ok && slices.Contains(subject.Organization, authn.GroupMasters) {
		return a.Forbidden(fmt.Sprintf("use of %s signer with %s group is not allowed", p.signer, authn.GroupMasters))
	}
	return nil
}

// RequestedSubject is the subject that a CertificateSigningRequest asks for; ok is false if it
// cannot be read, which validation says in its own words.
func RequestedSubject(object tree.Tree) (subject pkix.Name, ok bool) {
	text, err := base64.StdEncoding.DecodeString(object.Object("spec").String("request"))
	if err != nil {
		return subject, false
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return subject, false
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return subject, false
	}
	return request.Subject, true
}

// CertificateApproval asks of who approves or denies a request the right on its signer.
func CertificateApproval(authorizer authz.Authorizer, objects policy.Objects, naming *meta.Naming) Registration {
	return Registration{
		Name: "CertificateApproval", Resources: []string{certificateRequests + "/approval"},
		Plugin: signerPermission{"approve", authorizer, objects, naming.Translate(certificateGroup)},
	}
}

// CertificateSigning asks of who signs a request, or says that it cannot be signed, the right
// on its signer.
func CertificateSigning(authorizer authz.Authorizer, objects policy.Objects, naming *meta.Naming) Registration {
	return Registration{
		Name: "CertificateSigning", Resources: []string{certificateRequests + "/status"},
		Plugin: signerPermission{"sign", authorizer, objects, naming.Translate(certificateGroup)},
	}
}

// signerPermission asks for a verb on the signer of a request.
type signerPermission struct {
	verb       string
	authorizer authz.Authorizer
	objects    policy.Objects
	group      string // of signers
}

// Prepare implements Preparer: the authorizer may have to ask a remote one.
func (p signerPermission) Prepare(user *authn.User, key meta.Key) Plugin {
	r := signerDecision{verb: p.verb}
	if o := p.objects.Get(meta.GroupResource{Group: certificateGroup, Resource: "certificatesigningrequests"}, "", key.Name); o != nil {
		r.signer = signerOf(o.Tree)
		r.allowed = p.allows(user, r.signer)
	}
	return r
}

// allows tells whether a user has the right on a signer, or on all of its domain.
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

// Admit refuses: without Prepare, the authorizer was not asked.
func (p signerPermission) Admit(a *Attributes) error { return signerDecision{verb: p.verb}.Admit(a) }

// A signerDecision says whether a user has the right on one signer.
type signerDecision struct {
	verb, signer string
	allowed      bool
}

// Admit checks the decision against the request as it is now, which may be another one of its name.
func (v signerDecision) Admit(a *Attributes) error {
	old, wanted := a.Old.Object("status"), a.New.Object("status")
	if a.Old == nil || a.New == nil || a.Subresource == "status" && !changesSigningStatus(old, wanted) {
		return nil
	}
	if signer := signerOf(a.Old); !v.allowed || signer != v.signer {
		return a.Forbidden(fmt.Sprintf("user not permitted to %s requests with signerName %q", v.verb, signer))
	}
	return nil
}

// changesSigningStatus tells whether a change of the status is one that only a signer makes.
func changesSigningStatus(old, wanted tree.Tree) bool {
	return !tree.SemanticEqual(old["certificate"], wanted["certificate"]) || !tree.SemanticEqual(old["conditions"], wanted["conditions"])
}

func signerOf(request tree.Tree) string {
	return request.Object("spec").String("signerName")
}
