package plugins

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// ExtendedResourceToleration lets Pods that ask for a device onto the nodes that are tainted with its name.
// Nodes with expensive devices are tainted so that other Pods stay away; who asks for the device need not
// know the taint.
func ExtendedResourceToleration(naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "ExtendedResourceToleration", Resources: []string{"/pods"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, Mutator: extendedResources{native: naming.Translate("platform.io/")}},
	}
}

// extendedResources knows resources that nodes have beside their own by their domain.
type extendedResources struct {
	request.HandlesAll
	native string
}

// Admit implements request.Mutator.
func (p extendedResources) Admit(a *request.Attributes) error {
	spec := a.New.Object("spec")
	asked := map[string]bool{}
	eachContainer(spec, podContainers, func(c tree.Tree, _ string, _ int) bool {
		for name := range c.Object("resources", "requests") {
			if p.isExtended(name) {
				asked[name] = true
			}
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		tolerates := func(t tree.Tree) bool {
			return t.String("key") == name && t.String("operator") == "Exists" && t.String("effect") == "NoSchedule" && t.String("value") == ""
		}
		if !slices.ContainsFunc(a.New.Object("spec").Objects("tolerations"), tolerates) {
			appendItem(a.Edit("spec"), "tolerations", tree.Tree{"key": name, "operator": "Exists", "effect": "NoSchedule"})
		}
	}
	return nil
}

// isExtended tells the name of a resource that a vendor has added. It must agree with what the scheduler
// takes for an extended resource.
func (p extendedResources) isExtended(name string) bool {
	const quotaPrefix = "requests." // of the resource in a quota, which is to be a name, too
	return strings.Contains(name, "/") && !strings.Contains(name, p.native) && !strings.HasPrefix(name, quotaPrefix) &&
		len(rules.QualifiedName(quotaPrefix+name)) == 0
}
