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

// ExtendedResourceToleration returns the plugin that adds tolerations for a Pod's extended
// resources. Nodes with special devices are usually tainted with the resource name, to keep other
// Pods away.
func ExtendedResourceToleration(naming *meta.Naming) admission.Registration {
	return admission.Register("ExtendedResourceToleration", extendedResources{native: naming.Translate("platform.io/")})
}

type extendedResources struct {
	request.HandlesAll
	native string
}

func (p extendedResources) Admit(a *request.Attributes) error {
	spec := a.New.Object("spec")
	asked := map[string]bool{}
	for _, c := range containers(spec, podContainers...) {
		for name := range c.Object("resources", "requests") {
			if p.isExtended(name) {
				asked[name] = true
			}
		}
	}
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

// isExtended reports whether name is an extended resource. It must agree with the scheduler.
func (p extendedResources) isExtended(name string) bool {
	const quotaPrefix = "requests." // prefix in quotas; the prefixed name must be valid, too
	return strings.Contains(name, "/") && !strings.Contains(name, p.native) && !strings.HasPrefix(name, quotaPrefix) &&
		len(rules.QualifiedName(quotaPrefix+name)) == 0
}
