package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// podReferences are what the containers of a Pod may refer to.
type podReferences struct {
	volumes     map[string]string // the source of each volume by the volume's name
	claims      map[string]bool   // the names of claims to devices
	restartable bool              // containers are started again
}

// validateResources checks the names and amounts of what a container asks for and may use.
func validateResources(r schema.Tree, path string, faults *schema.Faults) {
	limits, requests := rules.Nested(r, "limits"), rules.Nested(r, "requests")
	for _, list := range []string{"limits", "requests"} {
		amounts := rules.Nested(r, list)
		for _, key := range rules.Keys(amounts) {
			at := rules.KeyPath(path+"."+list, key)
			validateContainerResource(key, at, faults)
			validateResourceQuantity(amounts, key, at, faults)
		}
	}
	pages, computing := false, false
	for _, key := range append(rules.Keys(requests), rules.Keys(limits)...) {
		pages = pages || strings.HasPrefix(key, "hugepages-")
		computing = computing || key == "cpu" || key == "memory"
	}
	for _, key := range rules.Keys(requests) {
		limit, limited := limits[key].(string)
		validateRequest(key, rules.String(requests, key), limit, limited, path, faults)
	}
	if pages && !computing {
		faults.Forbidden(path, "HugePages require cpu or memory")
	}
}

// validateRequest holds what is asked for against the limit, which it may not exceed, and
// equals where no more may be promised than there is.
func validateRequest(name, request, limit string, limited bool, path string, faults *schema.Faults) {
	switch {
	case !limited && !isOvercommitAllowed(name):
		faults.Required(path+".limits", "Limit must be set for non overcommitable resources")
	case !limited:
	case !isOvercommitAllowed(name) && quantity.Compare(request, limit) != 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be equal to %s limit of %s", name, limit))
	case quantity.Compare(request, limit) > 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit))
	}
}

func isStandardContainerResource(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

// validateClaimNames wants each claim of a container to be one of the Pod's, once.
func validateClaimNames(r schema.Tree, path string, claims map[string]bool, faults *schema.Faults) {
	seen := map[[2]string]bool{}
	for i, c := range rules.Trees(r, "claims") {
		at, name := rules.IndexPath(path, i), rules.String(c, "name")
		id := [2]string{name, rules.String(c, "request")}
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

// validateClaims checks the claims to devices of a Pod, and gives their names.
func validateClaims(spec schema.Tree, path string, faults *schema.Faults) map[string]bool {
	names := map[string]bool{}
	for i, c := range rules.Trees(spec, "resourceClaims") {
		at, name := rules.IndexPath(path, i), rules.String(c, "name")
		switch {
		case name == "":
			faults.Required(at + ".name")
		case !names[name]:
			validateFormat(c, "name", at, faults, rules.Label)
		}
		names[name] = true
		own, form := rules.Has(c, "resourceClaimName"), rules.Has(c, "resourceClaimTemplateName")
		switch {
		case own && form:
			faults.Invalid(at, c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		case !own && !form:
			faults.Invalid(at, c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		validateFormat(c, "resourceClaimName", at, faults, rules.Subdomain)
		validateFormat(c, "resourceClaimTemplateName", at, faults, rules.Subdomain)
	}
	return names
}

// validateResizePolicy checks what becomes of a container whose resources change.
func validateResizePolicy(c schema.Tree, path string, restarts bool, faults *schema.Faults) {
	resizable := []string{"cpu", "memory"}
	seen := map[string]bool{}
	for i, p := range rules.Trees(c, "resizePolicy") {
		at, name := rules.IndexPath(path, i), rules.String(p, "resourceName")
		switch {
		case name == "":
			faults.Required(at)
		case !slices.Contains(resizable, name):
			faults.NotSupported(at, name, resizable)
		case seen[name]:
			faults.Duplicate(at, name)
		}
		seen[name] = true
		policy := rules.String(p, "restartPolicy")
		switch {
		case policy == "":
			faults.Required(at)
		case policy != "NotRequired" && policy != "RestartContainer":
			faults.NotSupported(at, policy, []string{"NotRequired", "RestartContainer"})
		case policy == "RestartContainer" && !restarts:
			faults.Invalid(at, policy, "must be 'NotRequired' when `restartPolicy` is 'Never'")
		}
	}
}
