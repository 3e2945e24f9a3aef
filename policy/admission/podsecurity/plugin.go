package podsecurity

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// Registrations make the decisions an admission plugin: for Namespaces, for Pods and for what has a
// template of Pods. It reads existing Pods only where a Namespace begins to demand more of them. All have one
// name, by which operators switch them on and off together.
func (a *Admission) Registrations() []admission.Registration {
	all := []admission.Registration{
		{Resources: []string{"/namespaces"}},
		{Resources: []string{"/namespaces"}, Plugin: request.Plugin{Stage: request.MayBlock, Validator: existingPods{a}}},
		{Resources: []string{"/pods", "/pods/ephemeralcontainers", "/pods/resize"}, Plugin: request.Plugin{SkipsNoOps: true}},
		{Resources: []string{
			"/replicationcontrollers", "/podtemplates",
			"apps/replicasets", "apps/deployments", "apps/statefulsets", "apps/daemonsets", "batch/jobs", "batch/cronjobs",
		}, Namespaces: a.watchesTemplates},
	}
	for i := range all {
		all[i].Name, all[i].Operations = "PodSecurity", request.OnCreate|request.OnUpdate
		if all[i].Validator == nil {
			all[i].Validator = plugin{Admission: a}
		}
	}
	return all
}

// plugin decides on valid changes. Its kinds are named in stored form, so all versions of a workload are
// decided on alike.
type plugin struct {
	request.HandlesAll
	*Admission
}

// Validate implements request.Validator.
func (p plugin) Validate(a *request.Attributes) error {
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
func requestOf(a *request.Attributes) Request {
	r := Request{Resource: a.Key.GroupResource, Subresource: a.Subresource, Namespace: a.Key.Namespace, Old: a.Old, New: a.New}
	if r.Resource == namespaces {
		r.Namespace = a.Key.Name
	}
	if a.User != nil {
		r.User = a.User.Name
	}
	return r
}

// existingPods warns of the existing Pods of a Namespace that begins to demand more of them. There may be
// thousands, so it may block.
type existingPods struct{ *Admission }

// Handles implements request.Validator.
func (p existingPods) Handles(a *request.Attributes) bool {
	_, raised := p.StricterEnforcement(requestOf(a))
	return raised
}

// Validate implements request.Validator.
func (p existingPods) Validate(a *request.Attributes) error {
	r := requestOf(a)
	lv, _ := p.StricterEnforcement(r)
	a.Warn(p.CheckPods(a.Context, r.Namespace, lv)...)
	return nil
}
