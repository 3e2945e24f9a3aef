package crd

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An ApprovalPolicy lists the domains with protected API groups. A CRD in such a group needs an
// approval from the owner of the domain, or must be marked as unapproved.
type ApprovalPolicy struct {
	domains []string
	more    string // where users read about approvals
	// Annotation is the CRD annotation with the approval, or with the reason why there is none.
	Annotation string
}

// NewApprovalPolicy returns the policy that protects the domains of a naming profile.
func NewApprovalPolicy(n *meta.Naming) *ApprovalPolicy {
	p := &ApprovalPolicy{
		domains:    []string{strings.TrimPrefix(n.Group(""), "."), n.Translate("platform.io")},
		Annotation: n.Translate("api-approved.platform.io"),
	}
	if n == meta.Kubernetes { // the community that owns the domains
		p.more = ", see https://github.com/kubernetes/enhancements/pull/1111"
	}
	return p
}

// An Approval is the content of the CRD condition KubernetesAPIApprovalPolicyConformant.
type Approval struct {
	Status  string // status of the condition
	Reason  string
	Message string
}

const (
	ApprovalMissing = "MissingAnnotation"
	ApprovalInvalid = "InvalidAnnotation"
)

// Refused reports whether a CRD with this approval is rejected.
func (a Approval) Refused() bool { return a.Reason == ApprovalMissing || a.Reason == ApprovalInvalid }

// Of returns the approval of a CRD, or false if the CRD's group is not protected.
func (p *ApprovalPolicy) Of(definition tree.Tree) (Approval, bool) {
	if !p.protects(definition.Object("spec").String("group")) {
		return Approval{}, false
	}
	text := definition.Annotations().String(p.Annotation)
	at, err := url.ParseRequestURI(text)
	switch {
	case text == "":
		return Approval{"False", ApprovalMissing, fmt.Sprintf("protected groups must have approval annotation %q", p.Annotation) + p.more}, true
	case strings.HasPrefix(text, "unapproved"):
		return Approval{"False", "UnapprovedAnnotation", fmt.Sprintf("not approved: %q", text)}, true
	case err == nil && at.Host != "" && at.Scheme != "":
		return Approval{"True", "ApprovedAnnotation", "approved in " + text}, true
	}
	return Approval{"False", ApprovalInvalid, fmt.Sprintf("protected groups must have approval annotation %q with either a URL or a reason starting with \"unapproved\"", p.Annotation) + p.more}, true
}

func (p *ApprovalPolicy) protects(group string) bool {
	for _, domain := range p.domains {
		if group == domain || strings.HasSuffix(group, "."+domain) {
			return true
		}
	}
	return false
}
