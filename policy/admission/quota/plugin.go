package quota

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// pluginName is that of names.go of package admission.
const pluginName = "ResourceQuota"

// Registrations are the plugin: for every object that is created, and for the updates by which objects
// may use more, or quotas limit something else. Follower is that of the ledger.
func (l *Ledger) Registrations(follower policy.Follower, config Config) []admission.Registration {
	p := &plugin{l, config}
	all := []admission.Registration{
		{Resources: []string{"*"}, Operations: []request.Verb{request.Create}},
		{Resources: []string{
			"/pods", "/pods/resize", "/services", "/persistentvolumeclaims", "/resourcequotas", "resource.platform.io/resourceclaims",
		}, Operations: []request.Verb{request.Update}, SkipsNoOps: true},
	}
	for i := range all {
		all[i].Name, all[i].Plugin = pluginName, p
	}
	return append(all, admission.Registration{Caches: []policy.Follower{follower}}) // what is used is told even if nothing is refused
}

// plugin reserves at the ledger what changes take.
type plugin struct {
	ledger *Ledger
	config Config
}

var _ admission.Reserver = (*plugin)(nil)

// Reserve implements admission.Reserver.
func (p *plugin) Reserve(a *admission.Attributes) (*request.Reservation, error) {
	update := a.Operation == request.Update
	if a.Key.Namespace == "" || a.New == nil || a.Kind.Virtual() || a.Subresource != "" && !update {
		return nil, nil
	}
	e := p.ledger.evaluators.of(a.Kind.Storage)
	if e == nil {
		return nil, nil
	}
	change := proposed{
		namespace: a.Key.Namespace, resource: a.Kind.Storage, evaluator: e, old: a.Old, new: a.New, dryRun: a.DryRun(), limits: p.config.limited,
		refusable: !update || e.checks != nil && e.checks(a.Subresource, a.New, a.Old),
	}
	r, err := p.ledger.reserve(&change)
	var refused refusal
	if errors.As(err, &refused) {
		return nil, meta.NewForbidden(a.GroupResource(), a.Key.Name, string(refused))
	}
	if r == nil {
		return nil, err
	}
	return &r.Reservation, nil
}
