package quota

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

const pluginName = "ResourceQuota"

// Registrations returns the plugin for creates and for updates that may increase usage or change
// limits. follower is the result of Ledger.Follower.
func (l *Ledger) Registrations(follower policy.Follower, config Config) []admission.Registration {
	p := &plugin{l, config}
	all := []admission.Registration{
		{Resources: []string{"*"}, Plugin: request.Plugin{Operations: request.OnCreate}},
		{Resources: []string{
			"/pods", "/pods/resize", "/services", "/persistentvolumeclaims", "/resourcequotas", "resource.platform.io/resourceclaims",
		}, Plugin: request.Plugin{Operations: request.OnUpdate, SkipsNoOps: true}},
	}
	for i := range all {
		all[i].Name, all[i].Stage, all[i].Validator = pluginName, request.Last, p
	}
	return append(all, admission.Registration{Caches: []policy.Follower{follower}}) // usage is tracked even if no resource is limited
}

type plugin struct {
	ledger *Ledger
	config Config
}

func (p *plugin) Handles(a *request.Attributes) bool {
	return a.Key.Namespace != "" && a.New != nil && !a.Kind.Virtual() && (a.Subresource == "" || a.Operation == request.OnUpdate) &&
		p.ledger.evaluators.of(a.Kind.Storage) != nil
}

// Validate reserves the change's amounts.
func (p *plugin) Validate(a *request.Attributes) error {
	update, e := a.Operation == request.OnUpdate, p.ledger.evaluators.of(a.Kind.Storage)
	change := proposed{
		namespace: a.Key.Namespace, resource: a.Kind.Storage, evaluator: e, old: a.Old, new: a.New, dryRun: a.DryRun(), limits: p.config.limited,
		refusable: !update || e.checks != nil && e.checks(a.Subresource, a.New, a.Old),
	}
	r, err := p.ledger.reserve(&change)
	var refused refusal
	if errors.As(err, &refused) {
		return a.Forbidden(string(refused))
	}
	if r != nil {
		a.Reserve(&r.Reservation)
	}
	return err
}
