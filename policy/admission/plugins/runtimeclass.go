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

var runtimeClasses = meta.GroupResource{Group: "node.platform.io", Resource: "runtimeclasses"}

// RuntimeClass returns the plugin that copies overhead and scheduling constraints from the
// RuntimeClass to new Pods. Schedulers and quotas count the overhead. Later changes to the class do
// not affect existing Pods.
func RuntimeClass(objects policy.Objects) admission.Registration {
	p := runtimeClassPlugin{objects: objects, classes: policy.NewCache(runtimeClasses, parseRuntimeClass)}
	return admission.Register("RuntimeClass", p, p.classes)
}

type runtimeClassPlugin struct {
	request.HandlesAll
	objects policy.Objects
	classes *policy.Cache[runtimeClass]
}

type runtimeClass struct {
	hasOverhead  bool
	overhead     tree.Tree // by resource
	schedules    bool      // the class has a scheduling field, possibly empty
	nodeSelector tree.Tree
	tolerations  []tree.Tree
}

func parseRuntimeClass(o *policy.Object) runtimeClass {
	scheduling := o.Tree.Object("scheduling")
	return runtimeClass{
		hasOverhead: o.Tree.Has("overhead"), overhead: o.Tree.Object("overhead", "podFixed"),
		schedules: scheduling != nil, nodeSelector: scheduling.Object("nodeSelector"), tolerations: scheduling.Objects("tolerations"),
	}
}

// classOf returns a Pod's class, or the zero class if the Pod specifies none. On a cache miss, it
// reads the object, so that one manifest can create both class and Pods.
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

// overheadMismatch is the error message of Kubernetes.
const overheadMismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

// Admit sets the overhead. A client may only set the class's overhead, because a lower one would
// hide usage.
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

// place merges the class's node selector and tolerations into the Pod. It rejects conflicting node
// selectors.
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

// sameAmounts compares quantities by value, so that "0.5" equals "500m".
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
