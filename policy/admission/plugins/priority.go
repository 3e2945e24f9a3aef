package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// priorityClasses is the resource that the cache follows.
var priorityClasses = meta.GroupResource{Group: "scheduling.platform.io", Resource: "priorityclasses"}

// Priority gives every new Pod the priority of its class, and refuses a second class that is the default of
// all Pods.
func Priority() admission.Registration {
	p := priorityPlugin{classes: policy.NewCache(priorityClasses, parsePriorityClass)}
	return admission.Registration{
		Name: "Priority", Resources: []string{"/pods", "scheduling.platform.io/priorityclasses"}, Caches: []policy.Follower{p.classes},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Mutator: p, Validator: p},
	}
}

// The cache follows the classes in the order of their writes.
type priorityPlugin struct {
	request.HandlesAll
	classes *policy.Cache[priorityClass]
}

// A priorityClass is what Pods take of their class.
type priorityClass struct {
	value            int64
	preemptionPolicy string // "" if the class says nothing
	globalDefault    bool
}

// parsePriorityClass keeps what Pods take, not the object. A class without a value has 0.
func parsePriorityClass(o *policy.Object) priorityClass {
	value, _ := o.Tree.Int("value")
	return priorityClass{value: value, preemptionPolicy: o.Tree.String("preemptionPolicy"), globalDefault: o.Tree.Bool("globalDefault")}
}

// Admit implements request.Mutator. An update that leaves the two fields out keeps them: clients from
// before they existed replace Pods without them.
func (p priorityPlugin) Admit(a *request.Attributes) error {
	switch {
	case a.Kind.Resource != "pods":
		return nil
	case a.IsCreate():
		return p.resolve(a)
	}
	spec, was := a.New.Object("spec"), a.Old.Object("spec")
	for _, name := range []string{"priority", "preemptionPolicy"} {
		if !spec.Has(name) && was.Has(name) {
			a.Edit("spec").CopyField(was, name)
		}
	}
	return nil
}

// resolve gives a new Pod the priority of its class, or of the default one. The number is what schedulers
// compare; a client may repeat it but not choose it. The system's classes are objects like others, which
// always exist.
func (p priorityPlugin) resolve(a *request.Attributes) error {
	spec := a.New.EnsureObject("spec")
	name := spec.String("priorityClassName")
	class, found := p.classes.Get("", name)
	switch {
	case name != "" && !found:
		return a.Forbidden("no PriorityClass with name " + name + " was found")
	case name == "":
		if name, class, found = p.globalDefault(); found {
			spec["priorityClassName"] = name
		} else {
			class.preemptionPolicy = "PreemptLowerPriority"
		}
	}
	if given, ok := spec.Int("priority"); ok && given != class.value {
		return a.Forbidden(fmt.Sprintf("the integer value of priority (%d) must not be provided in pod spec; "+
			"priority admission controller computed %d from the given PriorityClass name", given, class.value))
	}
	spec["priority"] = class.value
	return setPreemptionPolicy(a, spec, class.preemptionPolicy)
}

// setPreemptionPolicy treats the policy like the number.
func setPreemptionPolicy(a *request.Attributes, spec tree.Tree, want string) error {
	if want == "" {
		return nil
	}
	if given := spec.String("preemptionPolicy"); given != "" && given != want {
		return a.Forbidden(fmt.Sprintf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; "+
			"priority admission controller computed %s from the given PriorityClass name", given, want))
	}
	spec["preemptionPolicy"] = want
	return nil
}

// globalDefault is the class of Pods that name none. If there are several, since they came at the same
// time, it is the one with the lowest value. The lowest value does the least harm.
func (p priorityPlugin) globalDefault() (name string, class priorityClass, found bool) {
	p.classes.Each("", func(n string, c priorityClass) bool {
		if c.globalDefault && (!found || c.value < class.value) {
			name, class, found = n, c, true
		}
		return true
	})
	return name, class, found
}

// Validate implements request.Validator. The cache may lag behind a class that is created at the same
// time, so two defaults remain possible.
func (p priorityPlugin) Validate(a *request.Attributes) error {
	if a.Kind.Resource == "pods" || !a.New.Bool("globalDefault") {
		return nil
	}
	name, _, found := p.globalDefault()
	if found && (a.IsCreate() || name != a.Key.Name) {
		return a.Forbidden("PriorityClass " + name + " is already marked as default. Only one default can exist")
	}
	return nil
}
