package plugins

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// LimitRanger gives the containers of Pods the requests and limits that the LimitRanges of their namespace
// have as defaults, and refuses Pods and claims that ask for less or more than these allow. Namespaces
// without a LimitRange are passed over without a look at the object (Namespaces). The cache is updated in
// the order of writes, so a Pod that is created after a LimitRange meets it.
func LimitRanger(naming *meta.Naming) admission.Registration {
	p := limitRanger{
		ranges:     policy.NewCache(meta.GroupResource{Resource: "limitranges"}, parseLimitRange),
		annotation: naming.Translate("platform.io/limit-ranger"),
	}
	return admission.Registration{
		Name: "LimitRanger", Resources: []string{"/pods", "/pods/resize", "/persistentvolumeclaims"}, Namespaces: p.ranges.Has, Caches: []policy.Follower{p.ranges},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Mutator: p, Validator: p},
	}
}

// limitRanger keeps LimitRanges as they are checked, parsed once when they are written and not for each Pod.
type limitRanger struct {
	ranges     *policy.Cache[*limitRange]
	annotation string // says what was set
}

// Admit implements request.Mutator. The annotation tells the Pod's author where the values come from. With
// several LimitRanges, the first by name sets a default and the others find it set.
func (p limitRanger) Admit(a *request.Attributes) error {
	if a.Kind.Resource != "pods" {
		return nil
	}
	var spec tree.Tree // copied where there is a LimitRange, which most namespaces lack
	changed := false
	p.ranges.Each(a.Key.Namespace, func(_ string, l *limitRange) bool {
		if spec == nil {
			spec = a.EditAll("spec")
		}
		if set := l.setDefaults(spec); len(set) > 0 {
			a.Edit("metadata", "annotations")[p.annotation] = "LimitRanger plugin set: " + strings.Join(set, "; ")
			changed = true
		}
		return true
	})
	if changed && a.IsCreate() {
		derive(a)
	}
	return nil
}

// derive sets once more what the kind derives from the spec of a new Pod: its class of service follows from
// its requests and limits. Prepare has run before admission, when the Pod had no requests yet.
func derive(a *request.Attributes) {
	if k := a.Kind.Stored; k != nil && k.Preparer != nil {
		k.Preparer.Prepare(a.New, nil)
	}
}

// Handles implements request.Mutator and request.Validator. Requests and limits of a Pod change by resizing it
// only. A Pod that is being deleted must be let go, also if its limits have become forbidden.
func (p limitRanger) Handles(a *request.Attributes) bool {
	if !a.IsCreate() && a.Kind.Resource == "pods" && a.Subresource == "" {
		return false
	}
	return !a.Old.Object("metadata").Has("deletionTimestamp")
}

// Validate implements request.Validator. It tells all that one LimitRange finds.
func (p limitRanger) Validate(a *request.Attributes) (err error) {
	p.ranges.Each(a.Key.Namespace, func(_ string, l *limitRange) bool {
		var faults []string
		if a.Kind.Resource == "pods" {
			faults = l.checkPod(a.New.Object("spec"))
		} else {
			faults = l.checkClaim(a.New.Object("spec", "resources"))
		}
		if len(faults) > 0 {
			err = a.Forbidden(joinFaults(faults))
		}
		return err == nil
	})
	return err
}

// joinFaults is one text of several, each once. Containers of the same size have the same faults.
func joinFaults(faults []string) string {
	var distinct []string
	for _, fault := range faults {
		if !slices.Contains(distinct, fault) {
			distinct = append(distinct, fault)
		}
	}
	if len(distinct) == 1 {
		return distinct[0]
	}
	return "[" + strings.Join(distinct, ", ") + "]"
}

// setDefaults gives the containers of a Pod the defaults that they have not set, and tells which.
func (l *limitRange) setDefaults(spec tree.Tree) (set []string) {
	if len(l.defaultLimits) == 0 && len(l.defaultRequests) == 0 {
		return nil
	}
	for _, list := range []string{"containers", "initContainers"} {
		eachContainer(spec, []string{list}, func(c tree.Tree, _ string, _ int) bool {
			who := containerWords[list] + " " + c.String("name")
			if names := fillAmounts(c, "requests", l.defaultRequests); len(names) > 0 {
				set = append(set, strings.Join(names, ", ")+" request for "+who)
			}
			if names := fillAmounts(c, "limits", l.defaultLimits); len(names) > 0 {
				set = append(set, strings.Join(names, ", ")+" limit for "+who)
			}
			return true
		})
	}
	return set
}

// fillAmounts gives a container the requests or limits that it has not set, and tells which, sorted.
func fillAmounts(c tree.Tree, of string, defaults tree.Tree) (names []string) {
	for _, name := range defaults.SortedKeys() {
		if !c.Object("resources", of).Has(name) {
			c.EnsureObject("resources", of)[name] = defaults[name]
			names = append(names, name)
		}
	}
	return names
}
