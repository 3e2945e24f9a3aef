package daemon

import (
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// policies are who is let in, what they may do, and what has a say in it.
type policies struct {
	authenticator authn.Authenticator
	authorizer    authz.Authorizer
	admission     *admission.Chain
	audit         *audit.Auditor // nil if nothing is audited
	generation    *generation    // of all that the first two decide by
}

func (d *Daemon) policies(id *identity) (*policies, error) {
	p := &policies{generation: &generation{}}
	d.rights = p.generation
	d.rights.followStore(d.objects)
	var err error
	if p.authenticator, err = d.authenticate(id); err != nil {
		return nil, err
	}
	roles, err := rbac.New(d.background.ctx, d.objects, d.naming)
	if err != nil {
		return nil, err
	}
	d.rights.follow(func() any { return roles.Generation() })
	if p.authorizer, err = d.authorize(roles, id.present().Admin.Cert.Subject.CommonName); err != nil {
		return nil, err
	}
	p.admission = d.admit(p.authorizer, d.escalation(roles, p.authorizer)...)
	if p.audit, err = d.audit(); err != nil {
		return nil, err
	}
	return p, nil
}
