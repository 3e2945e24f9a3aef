package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podReferences are what the containers of a Pod may refer to. They are collected before the containers are
// checked, once for a Pod.
type podReferences struct {
	volumes     map[string]string // the source of each volume by the volume's name
	claims      map[string]bool   // the names of resource claims
	restartable bool              // containers are started again
}

// validateClaimNames checks that each claim of a container names one of the Pod's claims, once. Two
// requests of one claim are different devices, hence the pair.
func validateClaimNames(r tree.Tree, path string, claims map[string]bool, faults *schema.Faults) {
	seen := map[[2]string]bool{}
	for i, c := range r.Objects("claims") {
		at, name := tree.IndexPath(path, i), c.String("name")
		id := [2]string{name, c.String("request")}
		switch {
		case name == "":
			faults.Required(at)
		case seen[id]:
			faults.Duplicate(at, name)
		case !claims[name]:
			faults.NotFound(at, name)
		}
		seen[id] = true
	}
}

// validateClaims checks the resource claims of a Pod and returns their names.
//
// Several containers may name one claim, but each claim has one source: an object that exists, or a template from
// which it is made for this Pod alone.
func validateClaims(spec tree.Tree, path string, faults *schema.Faults) map[string]bool {
	names := map[string]bool{}
	for i, c := range spec.Objects("resourceClaims") {
		at, name := tree.IndexPath(path, i), c.String("name")
		if !names[name] {
			field.Format(c, "name", at, faults, rules.Label)
		}
		names[name] = true
		byName, byTemplate := c.Has("resourceClaimName"), c.Has("resourceClaimTemplateName")
		switch {
		case byName && byTemplate:
			faults.Invalid(at, c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		case !byName && !byTemplate:
			faults.Invalid(at, c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
	}
	return names
}

// validateResizePolicy checks whether a container restarts when its resources change.
//
// A Pod that never restarts its containers cannot restart one for a resize either. Only repeated names are told with their index, as
// clients know it.
func validateResizePolicy(c tree.Tree, path string, restarts bool, faults *schema.Faults) {
	resizable := []string{"cpu", "memory"}
	seen := map[string]bool{}
	for i, p := range c.Objects("resizePolicy") {
		name := p.String("resourceName")
		switch {
		case seen[name]:
			faults.Duplicate(tree.IndexPath(path, i), name)
		case name == "":
			faults.Required(path)
		case !slices.Contains(resizable, name):
			faults.NotSupported(path, name, resizable)
		}
		seen[name] = true
		policy := p.String("restartPolicy")
		switch {
		case policy == "":
			faults.Required(path)
		case policy != "NotRequired" && policy != "RestartContainer":
			faults.NotSupported(path, policy, []string{"NotRequired", "RestartContainer"})
		}
		if policy != "NotRequired" && !restarts {
			faults.Invalid(path, policy, "must be 'NotRequired' when `restartPolicy` is 'Never'")
		}
	}
}
