package podsecurity

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Request is a create or an update that is decided on. Old is nil for a create.
type Request struct {
	User        string
	Resource    meta.GroupResource // in which the object is stored
	Subresource string
	Namespace   string // of a Namespace, its own name
	Old, New    tree.Tree
}

func (r *Request) isCreate() bool { return r.Old == nil }

// A Decision is what becomes of a Request. The zero Decision lets it pass without a word. It is data, not
// an error, so that decisions can be tested without admission.
type Decision struct {
	Forbidden   string       // why it is refused by a policy; "" if it is not
	Faults      []meta.Cause // of the labels of a Namespace, for which it is refused as invalid
	Failure     *meta.Status // why nothing can be decided; nil if it can
	Annotations []Annotation // for the audit
	Warnings    []string     // for the user
}

// An Annotation is one of an audit event, its key in the form of the profile.
type Annotation struct{ Key, Value string }

// auditKeys are the keys of the annotations of audit events.
type auditKeys struct{ enforced, violations, exempt, fault string }

func newAuditKeys(naming *meta.Naming) auditKeys {
	return auditKeys{
		enforced:   naming.Translate(domain + "enforce-policy"),
		violations: naming.Translate(domain + "audit-violations"),
		exempt:     naming.Translate(domain + "exempt"),
		fault:      naming.Translate(domain + "error"),
	}
}

// Objects is how decisions read the cluster. Many goroutines call it at a time.
type Objects interface {
	// GetMeta is the head of an object as it is now, and whether there is one. It waits for nothing.
	GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool)
	// Pods are the Pods of a namespace, in any order.
	Pods(namespace string) []ExistingPod
}

// An Admission decides on what is written. It is immutable but for its metrics: many goroutines may use it.
// allowed is shared by all decisions that use it, as it never changes: the usual Pod of a namespace without
// labels allocates nothing.
type Admission struct {
	evaluator *Evaluator
	config    Configuration
	labels    labelKeys
	audit     auditKeys
	allowed   []Annotation // of a Pod in a namespace where everything is allowed
	objects   Objects
	metrics   *metricSet
}

// New makes an Admission of a configuration.
func New(config Configuration, naming *meta.Naming, objects Objects) *Admission {
	a := &Admission{
		evaluator: NewEvaluator(naming), config: config,
		labels: newLabelKeys(naming), audit: newAuditKeys(naming),
		objects: objects, metrics: newMetricSet(),
	}
	a.allowed = []Annotation{{a.audit.enforced, LevelVersion{}.String()}}
	return a
}

// The resources that are told apart.
var (
	namespaces             = meta.GroupResource{Resource: "namespaces"}
	pods                   = meta.GroupResource{Resource: "pods"}
	replicationControllers = meta.GroupResource{Resource: "replicationcontrollers"}
	podTemplates           = meta.GroupResource{Resource: "podtemplates"}
	cronJobs               = meta.GroupResource{Group: "batch", Resource: "cronjobs"}
)

// Decide decides on a write of a Namespace, of a Pod, or of an object with a Pod template. The caller asks
// only about resources that Registrations names.
func (a *Admission) Decide(r Request) Decision {
	switch r.Resource {
	case namespaces:
		return a.decideNamespace(r)
	case pods:
		return a.decidePod(r)
	}
	return a.decideController(r)
}

// exemption tells for what a write of a Pod or a template is exempt; "" if it is not. Exemptions come
// before everything else, so exempt namespaces work even if their labels cannot be read.
func (a *Admission) exemption(r Request) string {
	switch {
	case slices.Contains(a.config.Exemptions.Namespaces, r.Namespace):
		return "namespace"
	case r.User != "" && slices.Contains(a.config.Exemptions.Usernames, r.User):
		return "user"
	}
	return ""
}

// isExemptClass tells whether a Pod, or a template, is exempt for its runtime class.
func (a *Admission) isExemptClass(object tree.Tree) bool {
	class := object.Object("spec").String("runtimeClassName")
	return class != "" && slices.Contains(a.config.Exemptions.RuntimeClasses, class)
}

// exempt is the decision on what is exempt. It is noted in the audit, since a violation then passes without
// being looked for.
func (a *Admission) exempt(r Request, why string) Decision {
	a.metrics.exempt(r)
	return Decision{Annotations: []Annotation{{a.audit.exempt, why}}}
}

// policyOf is the policy of a namespace, and the faults of its labels; ok is false if there is no such
// namespace.
func (a *Admission) policyOf(namespace string) (p Policy, faults []meta.Cause, ok bool) {
	head, ok := a.objects.GetMeta(namespaces, "", namespace)
	if !ok {
		return p, nil, false
	}
	p, faults = a.labels.policy(head.Labels.Get, a.config.Defaults)
	return p, faults, true
}

// decidePod enforces the policy of the namespace. An update is only checked where it changes something that
// the checks read: a Pod from before the policy must still be allowed to get labels and finalizers, or it
// could not be deleted.
func (a *Admission) decidePod(r Request) Decision {
	if why := a.exemption(r); why != "" {
		return a.exempt(r, why)
	}
	p, faults, ok := a.policyOf(r.Namespace)
	if !ok {
		a.metrics.fail(r, true)
		failure := lookupFailure(r.Namespace)
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

// lookupFailure refuses a Pod because there is no policy to check it by. That is an internal error: the
// namespace existed when the request came in.
func lookupFailure(namespace string) *meta.Status {
	cause := fmt.Sprintf("failed to lookup namespace %q", namespace)
	return &meta.Status{
		Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + cause,
		Details: &meta.Details{Causes: []meta.Cause{{Message: cause}}},
	}
}

// decideController tells what will become of the Pods of a template. It refuses nothing. The Pods
// themselves are refused when a controller makes them, whose error the author of a Deployment may never
// see; hence the warning here. A ReplicationController may have no template.
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

// watchesTemplates tells whether anything is to be said of the templates of Pods in a namespace. Admission
// then passes templates over without decoding them.
func (a *Admission) watchesTemplates(namespace string) bool {
	p, faults, ok := a.policyOf(namespace)
	return !ok || len(faults) > 0 || p.Warn.Level != Privileged || p.Audit.Level != Privileged || a.config.Exemptions.any()
}

// templateOf is the Pod template of an object in stored form.
func templateOf(resource meta.GroupResource, object tree.Tree) tree.Tree {
	switch resource {
	case podTemplates:
		return object.Object("template")
	case cronJobs:
		return object.Object("spec", "jobTemplate", "spec", "template")
	}
	return object.Object("spec", "template")
}

// evaluate decides by a policy. Only Pods are refused. Labels that cannot be read still give a policy, and
// their fault goes to the audit.
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
	if d.Forbidden != "" { // which says enough
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

// evaluations remembers what was found of one object: modes mostly demand the same. There are three modes,
// so three results are the most.
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

// isSignificant tells whether an update of a Pod changes what was checked: of what may be updated, these
// are images, and ephemeral containers that are added. All other fields that the checks read are immutable
// in a Pod.
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
