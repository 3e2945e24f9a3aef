package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// runtimeClasses is the resource that the cache follows.
var runtimeClasses = meta.GroupResource{Group: "node.platform.io", Resource: "runtimeclasses"}

// RuntimeClass gives every new Pod the overhead of its runtime class, and puts it where that class runs. A
// sandbox takes memory beside its containers, which a scheduler and quotas have to count; so the overhead
// is copied into the Pod, where a later change of the class does not alter it.
func RuntimeClass(objects policy.Objects) admission.Registration {
	p := runtimeClassPlugin{objects: objects, classes: policy.NewCache(runtimeClasses, parseRuntimeClass)}
	return admission.Registration{
		Name: "RuntimeClass", Resources: []string{"/pods"}, Caches: []policy.Follower{p.classes},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: p, Validator: p},
	}
}

// runtimeClassPlugin can read a class that its cache does not have yet.
type runtimeClassPlugin struct {
	request.HandlesAll
	objects policy.Objects
	classes *policy.Cache[runtimeClass]
}

// A runtimeClass is what Pods take of their class.
type runtimeClass struct {
	hasOverhead  bool
	overhead     tree.Tree // quantities by resource
	schedules    bool      // the class says where its Pods run
	nodeSelector tree.Tree
	tolerations  []tree.Tree
}

// parseRuntimeClass tells a class without scheduling from one whose scheduling is empty.
func parseRuntimeClass(o *policy.Object) runtimeClass {
	scheduling := o.Tree.Object("scheduling")
	return runtimeClass{
		hasOverhead: o.Tree.Has("overhead"), overhead: o.Tree.Object("overhead", "podFixed"),
		schedules: scheduling != nil, nodeSelector: scheduling.Object("nodeSelector"), tolerations: scheduling.Objects("tolerations"),
	}
}

// classOf is the class of a Pod; an empty one if it names none. A class that the cache has not seen yet is
// read, so that one manifest can hold the class and its Pods.
func (p runtimeClassPlugin) classOf(a *request.Attributes) (runtimeClass, error) {
	name, named := a.New.Object("spec")["runtimeClassName"].(string)
	if !named {
		return runtimeClass{}, nil
	}
	if class, ok := p.classes.Get("", name); ok {
		return class, nil
	}
	if o := p.objects.Get(runtimeClasses, "", name); o != nil {
		return parseRuntimeClass(o), nil
	}
	return runtimeClass{}, a.Forbidden(fmt.Sprintf("pod rejected: RuntimeClass %q not found", name))
}

// overheadMismatch is the refusal of both phases, with the words of the public API.
const overheadMismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

// Admit implements request.Mutator. An overhead that the client has set must equal that of the class: it
// could otherwise be used to hide what a Pod takes.
func (p runtimeClassPlugin) Admit(a *request.Attributes) error {
	class, err := p.classOf(a)
	if err != nil {
		return err
	}
	spec := a.New.EnsureObject("spec")
	if given := spec.Object("overhead"); class.hasOverhead {
		if len(given) > 0 && !sameAmounts(given, class.overhead) {
			return a.Forbidden(overheadMismatch)
		}
		if len(class.overhead) > 0 {
			spec["overhead"] = tree.Clone(class.overhead)
		}
	}
	if class.schedules {
		return class.place(a, spec)
	}
	return nil
}

// place puts a Pod where its class runs. Nodes that support the runtime are found by these labels; a Pod
// elsewhere could not start.
func (c runtimeClass) place(a *request.Attributes, spec tree.Tree) error {
	for _, key := range c.nodeSelector.SortedKeys() {
		value, selector := c.nodeSelector.String(key), spec.EnsureObject("nodeSelector")
		if given, ok := selector[key].(string); ok && given != value {
			return a.Forbidden(fmt.Sprintf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, given))
		}
		selector[key] = value
	}
	if merged := mergeTolerations(spec.Objects("tolerations"), cloneTolerations(c.tolerations)); len(merged) > 0 {
		spec["tolerations"] = merged
	}
	return nil
}

// Validate implements request.Validator.
func (p runtimeClassPlugin) Validate(a *request.Attributes) error {
	class, err := p.classOf(a)
	if err != nil {
		return err
	}
	given := a.New.Object("spec").Object("overhead")
	switch {
	case class.hasOverhead && !sameAmounts(given, class.overhead):
		return a.Forbidden(overheadMismatch)
	case !class.hasOverhead && given != nil:
		return a.Forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	return nil
}

// sameAmounts tells whether two lists of quantities are equal. "0.5" and "500m" are equal amounts.
func sameAmounts(a, b tree.Tree) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if !b.Has(name) || quantity.Compare(a.String(name), b.String(name)) != 0 {
			return false
		}
	}
	return true
}
