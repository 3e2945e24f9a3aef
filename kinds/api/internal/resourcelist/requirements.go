package resourcelist

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateRequirements checks a container's requests and limits. Huge pages require cpu or memory,
// because the Pod would otherwise count as BestEffort.
func ValidateRequirements(r tree.Tree, path string, faults *schema.Faults) {
	validateRequirements(r, path, ValidateContainerName, faults)
}

// ValidatePodRequirements is ValidateRequirements for Pod-level resources, which allow fewer names.
func ValidatePodRequirements(r tree.Tree, path string, faults *schema.Faults) {
	validateRequirements(r, path, validatePodName, faults)
}

func validateRequirements(r tree.Tree, path string, validateName func(name, path string, faults *schema.Faults), faults *schema.Faults) {
	limits, requests := r.Object("limits"), r.Object("requests")
	for _, list := range []string{"limits", "requests"} {
		amounts := r.Object(list)
		for _, key := range amounts.SortedKeys() {
			at := tree.KeyPath(path+"."+list, key)
			validateName(key, at, faults)
			ValidateQuantity(amounts, key, at, faults)
		}
	}
	pages, computing := false, false
	for _, key := range append(requests.SortedKeys(), limits.SortedKeys()...) {
		pages = pages || strings.HasPrefix(key, "hugepages-")
		computing = computing || key == "cpu" || key == "memory"
	}
	for _, key := range requests.SortedKeys() {
		limit, limited := limits[key].(string)
		validateRequest(key, requests.String(key), limit, limited, path, faults)
	}
	if pages && !computing {
		faults.Forbidden(path, "HugePages require cpu or memory")
	}
}

// validateRequest checks that a request does not exceed its limit. Both must be equal if the
// resource cannot be overcommitted.
func validateRequest(name, request, limit string, limited bool, path string, faults *schema.Faults) {
	switch {
	case !limited && !IsOvercommitAllowed(name):
		faults.Required(path+".limits", "Limit must be set for non overcommitable resources")
	case !limited:
	case !IsOvercommitAllowed(name) && quantity.Compare(request, limit) != 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be equal to %s limit of %s", name, limit))
	case quantity.Compare(request, limit) > 0:
		faults.Invalid(path+".requests", request, fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit))
	}
}
