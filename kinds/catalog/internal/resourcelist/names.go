package resourcelist

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IsOvercommitAllowed reports whether the limits of a resource may exceed its requests. The kernel can
// share CPU time and reclaim memory, but a huge page or a device is there or not.
func IsOvercommitAllowed(name string) bool {
	return !strings.HasPrefix(name, "hugepages-") && (!strings.Contains(name, "/") || !isInteger(name))
}

func isStandardForContainers(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

// The names of resources without a domain. Compute resources have names of their own for requests
// and limits in quotas.
var (
	objectCountResources = []string{
		"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
		"services", "services.loadbalancers", "services.nodeports",
	}
	Compute = []string{
		"cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory",
	}
	storageResources = []string{"ephemeral-storage", "limits.ephemeral-storage", "requests.ephemeral-storage", "requests.storage"}
)

// IsStandardForQuota reports whether a quota may bound the resource of a name without a domain.
func IsStandardForQuota(name string) bool {
	return slices.Contains(objectCountResources, name) || slices.Contains(Compute, name) || slices.Contains(storageResources, name) ||
		strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
}

// isInteger reports whether a resource can only be counted in integers: numbers of objects, and extended
// resources, whose domain is not the platform's. cpu and memory have fractions, in thousandths of a core
// for one.
func isInteger(name string) bool {
	if domain, _, ok := strings.Cut(name, "/"); ok {
		return !strings.HasPrefix(name, "requests.") && !isNativeDomain(domain)
	}
	return slices.Contains(objectCountResources, name)
}

// isNativeDomain reports whether a domain is the platform's, or one below it, in any profile. Both
// spellings count, so that a manifest written for one profile is not taken for a vendor's device under the
// other.
func isNativeDomain(domain string) bool {
	return strings.HasSuffix(domain, meta.Platform.Translate("platform.io")) || strings.HasSuffix(domain, meta.Kubernetes.Translate("platform.io"))
}

// ValidateName checks the name of a resource and reports whether it is valid. It is the widest of the three
// checks: what a LimitRange may name. The other two add to its faults.
func ValidateName(name, path string, faults *schema.Faults) bool {
	msgs := rules.QualifiedName(name)
	for _, msg := range msgs {
		faults.Invalid(path, name, msg)
	}
	if len(msgs) > 0 {
		return false
	}
	if !strings.Contains(name, "/") && name != "storage" && !IsStandardForQuota(name) {
		faults.Invalid(path, name, "must be a standard resource type or fully qualified")
		return false
	}
	return true
}

// ValidateQuotaName checks the name of a resource that a quota bounds.
func ValidateQuotaName(name, path string, faults *schema.Faults) {
	ValidateName(name, path, faults)
	if !strings.Contains(name, "/") && !IsStandardForQuota(name) {
		faults.Invalid(path, name, "must be a standard resource for quota")
	}
}

// ValidateContainerName checks the name of a resource in the requests and limits of a container. The prefix
// "requests." belongs to quotas; a device with such a name could not be told from its quota.
func ValidateContainerName(name, path string, faults *schema.Faults) {
	ValidateName(name, path, faults)
	domain, _, ok := strings.Cut(name, "/")
	switch {
	case !ok && !isStandardForContainers(name):
		faults.Invalid(path, name, "must be a standard resource for containers")
	case ok && strings.HasPrefix(name, "requests.") && !isNativeDomain(domain):
		faults.Invalid(path, name, "doesn't follow extended resource name standard")
	}
}

// validatePodName checks the name of a resource in the requests and limits of a Pod as a whole.
func validatePodName(name, path string, faults *schema.Faults) {
	if ValidateName(name, path, faults) && !IsPodLevel(name) {
		faults.NotSupported(path, name, []string{"cpu", pages, "memory"})
	}
}

// IsPodLevel tells whether a Pod may say something of a resource as a whole.
func IsPodLevel(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, pages)
}

// pages begins the names of resources that are memory in pages of one size.
const pages = "hugepages-"
