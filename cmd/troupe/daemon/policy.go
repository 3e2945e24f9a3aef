package daemon

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// policies are what decides about requests: authentication, authorization, admission and audit.
type policies struct {
	authenticator authn.Authenticator
	authorizer    authz.Authorizer
	admission     *admission.Chain
	audit         *audit.Auditor     // nil if nothing is audited
	generation    *policy.Generation // of all that the first two decide by
}

// The generation changes with everything that an earlier decision was based on, so decisions on a
// connection can be kept for as long as it stays the same. Authorization reads roles, and admission asks
// for authorization, hence the order.
func (d *Daemon) newPolicies(id *identity) (*policies, error) {
	p := &policies{generation: &policy.Generation{}}
	d.policyGeneration = p.generation
	for _, resource := range []string{"serviceaccounts", "secrets", "pods", "nodes"} { // that tokens are bound to, or are in
		version := d.objects.CollectionVersion(meta.GroupResource{Resource: resource})
		d.policyGeneration.AddSource(func() any { return version() })
	}
	var err error
	if p.authenticator, err = d.newAuthenticator(id); err != nil {
		return nil, err
	}
	roles, err := rbac.New(d.background.ctx, d.objects, d.naming)
	if err != nil {
		return nil, err
	}
	d.policyGeneration.AddSource(func() any { return roles.Generation() })
	if p.authorizer, err = d.newAuthorizer(roles, id.certificates().Admin.Cert.Subject.CommonName); err != nil {
		return nil, err
	}
	if p.admission, err = d.newAdmissionChain(p.authorizer, d.escalationChecks(roles, p.authorizer)...); err != nil {
		return nil, err
	}
	d.admission = p.admission
	if p.audit, err = d.newAuditor(); err != nil {
		return nil, err
	}
	return p, nil
}
