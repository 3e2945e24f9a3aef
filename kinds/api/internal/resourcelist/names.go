package resourcelist

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IsOvercommitAllowed reports whether limits of a resource may exceed requests. CPU and memory can
// be shared; huge pages and devices cannot.
func IsOvercommitAllowed(name string) bool {
	return !strings.HasPrefix(name, "hugepages-") && (!strings.Contains(name, "/") || !isInteger(name))
}

func isStandardForContainers(name string) bool {
	return name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

// Names of resources without a domain. In quotas, compute resources have separate names for
// requests and limits.
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

// IsStandardForQuota reports whether a quota may bound the resource of an unqualified name.
func IsStandardForQuota(name string) bool {
	return slices.Contains(objectCountResources, name) || slices.Contains(Compute, name) || slices.Contains(storageResources, name) ||
		strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
}

// isInteger reports whether a resource is counted in integers: numbers of objects, and extended
// resources.
func isInteger(name string) bool {
	if domain, _, ok := strings.Cut(name, "/"); ok {
		return !strings.HasPrefix(name, "requests.") && !isNativeDomain(domain)
	}
	return slices.Contains(objectCountResources, name)
}

// isNativeDomain reports whether a domain is, or is below, that of the platform in either profile.
// Otherwise a manifest for one profile would request extended resources under the other.
func isNativeDomain(domain string) bool {
	return strings.HasSuffix(domain, meta.Platform.Translate("platform.io")) || strings.HasSuffix(domain, meta.Kubernetes.Translate("platform.io"))
}

// ValidateName checks the name of a resource and reports whether it is valid. LimitRanges may use
// all such names; the other checks add faults.
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

// ValidateQuotaName checks the name of a resource in a quota.
func ValidateQuotaName(name, path string, faults *schema.Faults) {
	ValidateName(name, path, faults)
	if !strings.Contains(name, "/") && !IsStandardForQuota(name) {
		faults.Invalid(path, name, "must be a standard resource for quota")
	}
}

// ValidateContainerName checks the name of a resource in requests and limits of a container. The
// prefix "requests." is reserved for quotas.
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

// pages is the prefix of huge page resources.
const pages = "hugepages-"
