package podsecurity

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// Registrations returns the admission plugin for Namespaces, Pods and objects with Pod templates.
// The plugin reads existing Pods only if the policy of a Namespace becomes stricter. All
// registrations share one name, so that users can enable them together.
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

// plugin decides on objects in stored form, so that all versions get the same decision.
type plugin struct {
	request.HandlesAll
	*Admission
}

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
		return a.Invalid(d.Faults)
	case d.Forbidden != "":
		return a.Forbidden(d.Forbidden)
	}
	return nil
}

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

// existingPods warns about existing Pods when a Namespace's policy becomes stricter. It runs at
// stage MayBlock, because a namespace may have thousands of Pods.
type existingPods struct{ *Admission }

func (p existingPods) Handles(a *request.Attributes) bool {
	_, raised := p.StricterEnforcement(requestOf(a))
	return raised
}

func (p existingPods) Validate(a *request.Attributes) error {
	r := requestOf(a)
	lv, _ := p.StricterEnforcement(r)
	a.Warn(p.CheckPods(a.Context, r.Namespace, lv)...)
	return nil
}
