package pod

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/meta"
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
// requests of one claim are different devices; a claim without a request means all of its devices, and stands alone.
func validateClaimNames(r tree.Tree, path string, claims map[string]bool, faults *schema.Faults) {
	whole, requests := map[string]bool{}, map[string]map[string]bool{}
	for i, c := range r.Objects("claims") {
		at, name, request := tree.IndexPath(path, i), c.String("name"), c.String("request")
		if name == "" {
			faults.Required(at)
			continue
		}
		if requests[name] == nil {
			requests[name] = map[string]bool{}
		}
		if !whole[name] {
			field.Format(c, "request", at, faults, rules.Label)
		}
		switch {
		case whole[name], request == "" && len(requests[name]) > 0:
			faults.Duplicate(at, name)
		case requests[name][request]:
			faults.Duplicate(at, name+"/"+request)
		}
		if request == "" {
			whole[name] = true
		} else {
			requests[name][request] = true
		}
		if !claims[name] {
			faults.Report(meta.CauseNotFound, at, "Not found: "+strconv.Quote(name), "must be one of the names in pod.spec.resourceClaims"+listed(claims))
		}
	}
}

// listed are the names of the claims of a Pod, as a message ends with them.
func listed(claims map[string]bool) string {
	if len(claims) == 0 {
		return " which is empty"
	}
	return ": " + strings.Join(slices.Sorted(maps.Keys(claims)), ", ")
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
		for _, source := range []string{"resourceClaimName", "resourceClaimTemplateName"} {
			if name, set := c[source].(string); set && name == "" {
				for _, msg := range rules.Subdomain(name) {
					faults.Invalid(at+"."+source, name, msg)
				}
			}
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
