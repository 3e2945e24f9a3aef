package podsecurity

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Request is a create or update to decide on. Old is nil for a create.
type Request struct {
	User        string
	Resource    meta.GroupResource // of the stored object
	Subresource string
	Namespace   string // for a Namespace, its own name
	Old, New    tree.Tree
}

func (r *Request) isCreate() bool { return r.Old == nil }

// A Decision is the result for a Request. The zero Decision allows the request. It reports refusals
// as data, not as errors, so that tests need no admission chain.
type Decision struct {
	Forbidden   string       // message if the policy rejects the request, or ""
	Faults      []meta.Cause // invalid labels, which reject the Namespace
	Failure     *meta.Status // reason why no decision is possible, or nil
	Annotations []Annotation // for the audit event
	Warnings    []string     // for the user
}

// An Annotation is an audit annotation. Its key is in the naming profile.
type Annotation struct{ Key, Value string }

type auditKeys struct{ enforced, violations, exempt, fault string }

func newAuditKeys(naming *meta.Naming) auditKeys {
	return auditKeys{
		enforced:   naming.Translate(domain + "enforce-policy"),
		violations: naming.Translate(domain + "audit-violations"),
		exempt:     naming.Translate(domain + "exempt"),
		fault:      naming.Translate(domain + "error"),
	}
}

// Objects reads the objects that decisions depend on. It must be safe for concurrent use.
type Objects interface {
	// GetMeta returns the current metadata of an object, or false if it does not exist. It does not
	// block.
	GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool)
	// Pods returns a namespace's Pods in any order.
	Pods(namespace string) []ExistingPod
}

// An Admission decides on writes. It is immutable except for metrics and safe for concurrent use.
// In namespaces without a policy, all Decisions share the annotations in allowed, which avoids
// allocations.
type Admission struct {
	evaluator *Evaluator
	config    Configuration
	labels    labelKeys
	audit     auditKeys
	allowed   []Annotation // shared annotations for Pods in privileged namespaces
	objects   Objects
	metrics   *metricSet
}

// New returns an Admission for a configuration.
func New(config Configuration, naming *meta.Naming, objects Objects) *Admission {
	a := &Admission{
		evaluator: NewEvaluator(naming), config: config,
		labels: newLabelKeys(naming), audit: newAuditKeys(naming),
		objects: objects, metrics: newMetricSet(),
	}
	a.allowed = []Annotation{{a.audit.enforced, LevelVersion{}.String()}}
	return a
}

var (
	namespaces             = meta.GroupResource{Resource: "namespaces"}
	pods                   = meta.GroupResource{Resource: "pods"}
	replicationControllers = meta.GroupResource{Resource: "replicationcontrollers"}
	podTemplates           = meta.GroupResource{Resource: "podtemplates"}
	cronJobs               = meta.GroupResource{Group: "batch", Resource: "cronjobs"}
)

// Decide decides on a write to a Namespace, a Pod, or an object with a Pod template. The resource
// must be listed in Registrations.
func (a *Admission) Decide(r Request) Decision {
	switch r.Resource {
	case namespaces:
		return a.decideNamespace(r)
	case pods:
		return a.decidePod(r)
	}
	return a.decideController(r)
}

// exemption returns the reason for an exemption, or "". It is checked before the labels, so that
// invalid labels do not affect exempt namespaces.
func (a *Admission) exemption(r Request) string {
	switch {
	case slices.Contains(a.config.Exemptions.Namespaces, r.Namespace):
		return "namespace"
	case r.User != "" && slices.Contains(a.config.Exemptions.Usernames, r.User):
		return "user"
	}
	return ""
}

func (a *Admission) isExemptClass(object tree.Tree) bool {
	class := object.Object("spec").String("runtimeClassName")
	return class != "" && slices.Contains(a.config.Exemptions.RuntimeClasses, class)
}

func (a *Admission) exempt(r Request, why string) Decision {
	a.metrics.exempt(r)
	return Decision{Annotations: []Annotation{{a.audit.exempt, why}}}
}

func (a *Admission) policyOf(namespace string) (p Policy, faults []meta.Cause, ok bool) {
	head, ok := a.objects.GetMeta(namespaces, "", namespace)
	if !ok {
		return p, nil, false
	}
	p, faults = a.labels.policy(head.Labels.Get, a.config.Defaults)
	return p, faults, true
}

// decidePod enforces the namespace's policy. It skips updates that do not affect the checks.
// Otherwise clients could not change the labels or finalizers of Pods older than the policy, or
// delete them.
func (a *Admission) decidePod(r Request) Decision {
	if why := a.exemption(r); why != "" {
		return a.exempt(r, why)
	}
	p, faults, ok := a.policyOf(r.Namespace)
	if !ok {
		a.metrics.fail(r, true)
		failure := meta.NewInternalCause(fmt.Sprintf("failed to lookup namespace %q", r.Namespace))
		return Decision{
			Failure:     failure,
			Annotations: []Annotation{{a.audit.fault, failure.Message + ": " + meta.NewNotFound(namespaces, r.Namespace).Message}},
		}
	}
	if len(faults) == 0 && p.isPrivileged() {
		a.metrics.evaluate(r, enforce, p.Enforce, true)
		return Decision{Annotations: a.allowed}
	}
	if !r.isCreate() && !isSignificant(r.Old, r.New) {
		return Decision{}
	}
	return a.evaluate(r, p, faults, r.New)
}

// decideController checks the Pod template of an object such as a Deployment. It never rejects the
// object, but warns the client, because errors of the controller that creates the Pods are easy to
// miss. A ReplicationController may have no template.
func (a *Admission) decideController(r Request) Decision {
	if r.Subresource != "" {
		return Decision{}
	}
	if why := a.exemption(r); why != "" {
		return a.exempt(r, why)
	}
	p, faults, ok := a.policyOf(r.Namespace)
	if !ok {
		a.metrics.fail(r, true)
		text := fmt.Sprintf("failed to lookup namespace %q: %s", r.Namespace, meta.NewNotFound(namespaces, r.Namespace).Message)
		return Decision{Annotations: []Annotation{{a.audit.fault, text}}}
	}
	if len(faults) == 0 && p.Warn.Level == Privileged && p.Audit.Level == Privileged {
		return Decision{}
	}
	template := templateOf(r.Resource, r.New)
	if template == nil && r.Resource == replicationControllers {
		return Decision{}
	}
	return a.evaluate(r, p, faults, template)
}

func (a *Admission) watchesTemplates(namespace string) bool {
	p, faults, ok := a.policyOf(namespace)
	return !ok || len(faults) > 0 || p.Warn.Level != Privileged || p.Audit.Level != Privileged || a.config.Exemptions.any()
}

func templateOf(resource meta.GroupResource, object tree.Tree) tree.Tree {
	switch resource {
	case podTemplates:
		return object.Object("template")
	case cronJobs:
		return object.Object("spec", "jobTemplate", "spec", "template")
	}
	return object.Object("spec", "template")
}

// evaluate applies a policy. It can reject only Pods. Invalid labels are recorded in the audit
// event, and the policy still applies.
func (a *Admission) evaluate(r Request, p Policy, faults []meta.Cause, object tree.Tree) (d Decision) {
	if a.isExemptClass(object) {
		return a.exempt(r, "runtimeClass")
	}
	if len(faults) > 0 {
		a.metrics.fail(r, false)
		d.annotate(a.audit.fault, "Failed to parse policy: "+faultsText(faults))
	}
	known := evaluations{evaluator: a.evaluator, object: object}
	if r.Resource == pods {
		d.annotate(a.audit.enforced, p.Enforce.String())
		violations := known.of(p.Enforce)
		a.metrics.evaluate(r, enforce, p.Enforce, len(violations) == 0)
		if len(violations) > 0 {
			d.Forbidden = violationText("violates", p.Enforce, violations)
		}
	}
	if violations := known.of(p.Audit); len(violations) > 0 {
		a.metrics.evaluate(r, audit, p.Audit, false)
		d.annotate(a.audit.violations, violationText("would violate", p.Audit, violations))
	}
	if d.Forbidden != "" { // the message is enough
		return d
	}
	if violations := known.of(p.Warn); len(violations) > 0 {
		a.metrics.evaluate(r, warn, p.Warn, false)
		d.Warnings = []string{violationText("would violate", p.Warn, violations)}
	}
	return d
}

func (d *Decision) annotate(key, value string) {
	d.Annotations = append(d.Annotations, Annotation{key, value})
}

func violationText(verb string, lv LevelVersion, v Violations) string {
	return fmt.Sprintf("%s PodSecurity %q: %s", verb, lv, v.Details())
}

// evaluations caches results for one object, because the three modes often share a level and
// version.
type evaluations struct {
	evaluator *Evaluator
	object    tree.Tree
	known     [3]struct {
		LevelVersion
		Violations
	}
	count int
}

func (e *evaluations) of(lv LevelVersion) Violations {
	for i := range e.known[:e.count] {
		if e.known[i].LevelVersion == lv {
			return e.known[i].Violations
		}
	}
	found := &e.known[e.count]
	e.count++
	found.LevelVersion, found.Violations = lv, e.evaluator.Evaluate(lv, e.object)
	return found.Violations
}

// isSignificant reports whether an update changes fields that the checks depend on. Only images and
// added ephemeral containers matter, because all other such fields are immutable.
func isSignificant(old, wanted tree.Tree) bool {
	before, after := old.Object("spec"), wanted.Object("spec")
	for _, list := range [...]string{"containers", "initContainers"} {
		was, is := before.Objects(list), after.Objects(list)
		if len(was) != len(is) {
			return true
		}
		for i := range is {
			if is[i].String("image") != was[i].String("image") {
				return true
			}
		}
	}
	was := before.Objects("ephemeralContainers")
	for _, c := range after.Objects("ephemeralContainers") {
		i := slices.IndexFunc(was, func(old tree.Tree) bool { return old.String("name") == c.String("name") })
		if i < 0 || was[i].String("image") != c.String("image") {
			return true
		}
	}
	return false
}
