package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

var priorityClasses = meta.GroupResource{Group: "scheduling.platform.io", Resource: "priorityclasses"}

// Priority returns the plugin that resolves the priority of new Pods. It also rejects a second
// PriorityClass with globalDefault.
func Priority() admission.Registration {
	p := priorityPlugin{classes: policy.NewCache(priorityClasses, parsePriorityClass)}
	return admission.Register("Priority", p, p.classes)
}

type priorityPlugin struct {
	request.HandlesAll
	classes *policy.Cache[priorityClass]
}

type priorityClass struct {
	value            int64
	preemptionPolicy string // "" if unset
	globalDefault    bool
}

func parsePriorityClass(o *policy.Object) priorityClass {
	value, _ := o.Tree.Int("value")
	return priorityClass{value: value, preemptionPolicy: o.Tree.String("preemptionPolicy"), globalDefault: o.Tree.Bool("globalDefault")}
}

// Admit resolves the priority of new Pods. If an update omits priority or preemptionPolicy, Admit
// keeps the previous value, because older clients replace Pods without setting these fields.
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

// resolve sets the priority of a new Pod from its class or the global default. Clients may repeat
// the resolved value but cannot choose another one.
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

// globalDefault returns the default class. If concurrent creates produced several defaults, it
// returns the one with the lowest value, which does the least harm.
func (p priorityPlugin) globalDefault() (name string, class priorityClass, found bool) {
	p.classes.Each("", func(n string, c priorityClass) bool {
		if c.globalDefault && (!found || c.value < class.value) {
			name, class, found = n, c, true
		}
		return true
	})
	return name, class, found
}

// Validate rejects a second default. Concurrent creates may still produce two defaults, because the
// cache may be stale.
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
