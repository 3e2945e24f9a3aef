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

// LimitRanger returns the plugin that applies LimitRange defaults and bounds to Pods and claims.
// The cache applies changes in write order, so that a LimitRange affects all Pods created after it.
func LimitRanger(naming *meta.Naming) admission.Registration {
	p := limitRanger{
		ranges:     policy.NewCache(meta.GroupResource{Resource: "limitranges"}, parseLimitRange),
		annotation: naming.Translate("platform.io/limit-ranger"),
	}
	r := admission.Register("LimitRanger", p, p.ranges)
	r.Namespaces = p.ranges.Has
	return r
}

type limitRanger struct {
	ranges     *policy.Cache[*limitRange]
	annotation string // records the defaults set
}

// Admit sets the defaults and records them in an annotation. If several LimitRanges apply, the
// first by name takes precedence.
func (p limitRanger) Admit(a *request.Attributes) error {
	if a.Kind.Resource != "pods" {
		return nil
	}
	var spec tree.Tree // copied only if there is a LimitRange
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

// derive runs the kind's Preparer again, because the QoS class depends on the requests and limits
// set by default.
func derive(a *request.Attributes) {
	if k := a.Kind.Stored; k != nil && k.Preparer != nil {
		k.Preparer.Prepare(a.New, nil)
	}
}

// Handles skips Pod updates other than resize, because they cannot change resources. It also skips
// terminating objects, because their resources may violate newer bounds.
func (p limitRanger) Handles(a *request.Attributes) bool {
	if !a.IsCreate() && a.Kind.Resource == "pods" && a.Subresource == "" {
		return false
	}
	return !a.Old.Object("metadata").Has("deletionTimestamp")
}

// Validate reports all violations of the first violated LimitRange.
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

// setDefaults sets missing requests and limits. It returns their descriptions for the annotation.
func (l *limitRange) setDefaults(spec tree.Tree) (set []string) {
	if len(l.defaultLimits) == 0 && len(l.defaultRequests) == 0 {
		return nil
	}
	for list, c := range containers(spec, "containers", "initContainers") {
		who := containerWords[list] + " " + c.String("name")
		if names := fillAmounts(c, "requests", l.defaultRequests); len(names) > 0 {
			set = append(set, strings.Join(names, ", ")+" request for "+who)
		}
		if names := fillAmounts(c, "limits", l.defaultLimits); len(names) > 0 {
			set = append(set, strings.Join(names, ", ")+" limit for "+who)
		}
	}
	return set
}

func fillAmounts(c tree.Tree, of string, defaults tree.Tree) (names []string) {
	for _, name := range defaults.SortedKeys() {
		if !c.Object("resources", of).Has(name) {
			c.EnsureObject("resources", of)[name] = defaults[name]
			names = append(names, name)
		}
	}
	return names
}
