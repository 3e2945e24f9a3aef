package daemon

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/policy/admission/webhook"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// policies decide about authenticated requests: authorization, admission and audit.
type policies struct {
	base           // the caches of the objects that decisions depend on
	storage        *storage
	identity       *identity
	authentication *authentication

	authorizer       authz.Authorizer
	admission        *admission.Chain
	auditor          *audit.Auditor // nil if nothing is audited
	params           *admissionpolicy.Params
	podSecurity      *podsecurity.Admission
	webhookMetrics   *webhook.Metrics
	policyMetrics    *admissionpolicy.Metrics
	conditionMetrics *match.ConditionMetrics // of webhooks and policies
}

// Authorization reads roles, and admission asks for authorization, hence the order.
func (p *policies) Start() error {
	roles, err := rbac.New(p.ctx, p.storage.objects, p.naming)
	if err != nil {
		return err
	}
	p.authentication.generation.AddSource(func() any { return roles.Generation() })
	if p.authorizer, err = p.newAuthorizer(roles); err != nil {
		return err
	}
	p.webhookMetrics, p.policyMetrics, p.conditionMetrics = webhook.NewMetrics(), admissionpolicy.NewMetrics(), match.NewConditionMetrics()
	if p.admission, err = p.newAdmissionChain(p.escalationChecks(roles)...); err != nil {
		return err
	}
	p.auditor, err = p.newAuditor()
	return err
}

// Stop stores what is left of the audit.
func (p *policies) Stop(ctx context.Context) error {
	err := p.base.Stop(ctx)
	if p.auditor != nil {
		err = errors.Join(err, p.auditor.Close(ctx))
	}
	return err
}
