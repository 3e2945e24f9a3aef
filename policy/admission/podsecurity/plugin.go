package podsecurity

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// Registrations make the decisions an admission plugin: for Namespaces, for Pods and for what has a
// template of Pods. It reads Pods that are there already only where a Namespace begins to demand more of
// them, outside of the turn of its owner. All three have one name, by which operators switch them on and
// off together.
func (a *Admission) Registrations() []admission.Registration {
	all := []admission.Registration{
		{Resources: []string{"/namespaces"}, Waiting: existingPods{a}},
		{Resources: []string{"/pods", "/pods/ephemeralcontainers", "/pods/resize"}, SkipsNoOps: true},
		{Resources: []string{
			"/replicationcontrollers", "/podtemplates",
			"apps/replicasets", "apps/deployments", "apps/statefulsets", "apps/daemonsets", "batch/jobs", "batch/cronjobs",
		}, Namespaces: a.watchesTemplates},
	}
	for i := range all {
		all[i].Name, all[i].Plugin = "PodSecurity", plugin{a}
		all[i].Operations = []request.Verb{request.Create, request.Update}
	}
	return all
}

// plugin decides on valid changes. Its kinds are named in stored form, so all versions of a workload are
// decided on alike.
type plugin struct{ *Admission }

var _ admission.Validator = plugin{}

// Validate implements admission.Validator.
func (p plugin) Validate(a *admission.Attributes) error {
	d := p.Decide(requestOf(a))
	for _, annotation := range d.Annotations {
		a.Annotate(annotation.Key, annotation.Value)
	}
	a.Warn(d.Warnings...)
	switch {
	case d.Failure != nil:
		return d.Failure
	case len(d.Faults) > 0:
		return meta.NewInvalid(meta.GroupKind{Group: a.Kind.Group, Kind: a.Kind.Kind}, a.Key.Name, d.Faults)
	case d.Forbidden != "":
		return a.Forbidden(d.Forbidden)
	}
	return nil
}

// requestOf is a change as decisions see it.
func requestOf(a *admission.Attributes) Request {
	r := Request{Resource: a.Key.GroupResource, Subresource: a.Subresource, Namespace: a.Key.Namespace, Old: a.Old, New: a.New}
	if r.Resource == namespaces {
		r.Namespace = a.Key.Name
	}
	if a.User != nil {
		r.User = a.User.Name
	}
	return r
}

// existingPods looks at the Pods of a Namespace that begins to demand more of them. There may be many. It
// runs outside of the owner's turn because it reads thousands of Pods.
type existingPods struct{ *Admission }

var (
	_ admission.WaitingPlugin = existingPods{}
	_ admission.WaitingCall   = existingPods{}
)

// Selects implements admission.WaitingPlugin.
func (existingPods) Selects(k *schema.Kind, subresource string) bool {
	return k.Storage == namespaces && subresource == ""
}

// Applies implements admission.WaitingPlugin.
func (p existingPods) Applies(a *admission.Attributes) bool {
	_, raised := p.StricterEnforcement(requestOf(a))
	return raised
}

// Begin implements admission.WaitingPlugin.
func (p existingPods) Begin() admission.WaitingCall { return p }

// Mutate implements admission.WaitingCall.
func (existingPods) Mutate(context.Context, *admission.Attributes) error { return nil }

// Validate implements admission.WaitingCall.
func (p existingPods) Validate(ctx context.Context, a *admission.Attributes) error {
	r := requestOf(a)
	if lv, raised := p.StricterEnforcement(r); raised {
		a.Warn(p.CheckPods(ctx, r.Namespace, lv)...)
	}
	return nil
}
