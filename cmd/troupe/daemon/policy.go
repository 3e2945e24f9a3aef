package daemon

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/policy/admission/webhook"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

type policies struct {
	base // runs the caches of policy objects

	authorizer        *authz.Current
	authorizerMetrics *authz.Metrics
	configMetrics     *configMetrics                // metrics of the configuration file; nil without a file
	modes             map[string]authz.RuleResolver // authorizers created at startup, except webhooks
	remote            atomic.Bool                   // webhook authorizers are configured
	roles             *rbac.Authorizer
	admission         *admission.Chain
	auditor           *audit.Auditor // nil if auditing is off
	params            *admissionpolicy.Params
	podSecurity       *podsecurity.Admission
	webhookMetrics    *webhook.Metrics
	policyMetrics     *admissionpolicy.Metrics
	conditionMetrics  *match.ConditionMetrics // metrics of webhooks and policies
}

// Start creates the authorizer before the admission plugins that use it.
func (p *policies) Start() error {
	var err error
	if p.roles, err = rbac.New(p.ctx, p.storage.objects, p.naming); err != nil {
		return err
	}
	p.authentication.generation.AddSource(func() any { return p.roles.Generation() })
	if err := p.startAuthorizer(); err != nil {
		return err
	}
	p.webhookMetrics, p.policyMetrics, p.conditionMetrics = webhook.NewMetrics(), admissionpolicy.NewMetrics(), match.NewConditionMetrics()
	if p.admission, err = p.newAdmissionChain(p.escalationChecks()...); err != nil {
		return err
	}
	p.auditor, err = p.newAuditor()
	return err
}

func (p *policies) Stop(ctx context.Context) error {
	err := p.base.Stop(ctx)
	if p.auditor != nil {
		err = errors.Join(err, p.auditor.Close(ctx))
	}
	return err
}
