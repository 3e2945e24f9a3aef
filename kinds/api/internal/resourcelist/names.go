package resourcelist

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IsOvercommitAllowed reports whether the limit of a resource may exceed its request. Huge pages
// and devices cannot be overcommitted.
func IsOvercommitAllowed(name string) bool {
	return !strings.HasPrefix(name, "hugepages-") && (!strings.Contains(name, "/") || !isInteger(name))
}

func isStandardForContainers(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

// These variables list resource names without a domain. Quotas use separate names for the requests
// and the limits of compute resources, such as requests.cpu and limits.cpu.
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

// IsStandardForQuota reports whether a quota may limit a resource whose name has no domain.
func IsStandardForQuota(name string) bool {
	return slices.Contains(objectCountResources, name) || slices.Contains(Compute, name) || slices.Contains(storageResources, name) ||
		strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
}

func isInteger(name string) bool {
	if domain, _, ok := strings.Cut(name, "/"); ok {
		return !strings.HasPrefix(name, "requests.") && !isNativeDomain(domain)
	}
	return slices.Contains(objectCountResources, name)
}

// isNativeDomain reports whether a domain ends in the platform domain of either profile. Otherwise,
// one profile's native resources would be extended resources in the other.
func isNativeDomain(domain string) bool {
	return strings.HasSuffix(domain, meta.Platform.Translate("platform.io")) || strings.HasSuffix(domain, meta.Kubernetes.Translate("platform.io"))
}

// ValidateName checks a resource name and reports whether it is valid. LimitRanges accept all valid
// names. The functions for other objects are stricter.
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

// ValidateQuotaName checks a resource name in a quota.
func ValidateQuotaName(name, path string, faults *schema.Faults) {
	ValidateName(name, path, faults)
	if !strings.Contains(name, "/") && !IsStandardForQuota(name) {
		faults.Invalid(path, name, "must be a standard resource for quota")
	}
}

// ValidateContainerName checks a resource name in a container's requests or limits. The prefix
// "requests." is reserved for quotas.
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

func validatePodName(name, path string, faults *schema.Faults) {
	if ValidateName(name, path, faults) && !IsPodLevel(name) {
		faults.NotSupported(path, name, []string{"cpu", pages, "memory"})
	}
}

// IsPodLevel reports whether a resource may be set at Pod level.
func IsPodLevel(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, pages)
}

const pages = "hugepages-"
