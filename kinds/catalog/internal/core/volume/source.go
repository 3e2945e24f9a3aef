package volume

import (
	"net"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateSource checks what the volume sources of Pods and of PersistentVolumes have in common, beyond
// what the declarations say. s is the source itself, in the field name of the volume. Sources without a
// case need no more than their declarations.
func ValidateSource(name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "fc":
		validateFC(s, path, faults)
	case "iscsi":
		validateISCSI(s, path, faults)
	case "flocker":
		validateFlocker(s, path, faults)
	case "quobyte":
		validateQuobyte(s, path, faults)
	case "azureDisk":
		validateAzureDisk(s, path, faults)
	}
}

// validateFC requires either wwids, or targetWWNs and lun. A disk is found either by its world-wide
// identifier or by the pair of target and logical unit; with both, which wins would depend on the driver.
func validateFC(s tree.Tree, path string, faults *schema.Faults) {
	targets, ids := s.List("targetWWNs"), s.List("wwids")
	switch {
	case len(targets) == 0 && len(ids) == 0:
		faults.Required(path+".targetWWNs", "must specify either targetWWNs or wwids, but not both")
	case len(targets) > 0 && len(ids) > 0:
		faults.Invalid(path+".targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously")
	}
	if len(targets) == 0 || len(ids) > 0 {
		return
	}
	if !s.Has("lun") {
		faults.Required(path+".lun", "lun is required if targetWWNs is specified")
	}
	field.Bounds(s, "lun", path, faults, 0, 255)
}

// validateISCSI requires the Secret that CHAP authenticates with; without it the login to the target fails
// on the node.
func validateISCSI(s tree.Tree, path string, faults *schema.Faults) {
	chap := s.Bool("chapAuthDiscovery") || s.Bool("chapAuthSession")
	if chap && !s.Has("secretRef") {
		faults.Required(path + ".secretRef")
	}
}

// ValidateISCSIName bounds the length of <volume name>:<portal> where the initiator has a name of its own.
// path is the path of the volume's name. The kubelet then names an interface of the initiator by this pair,
// and the length of such names is bounded on Linux. The message is a sentence, and "under 64" means at most
// 64, as clients know it.
func ValidateISCSIName(s tree.Tree, volume, path string, faults *schema.Faults) {
	if s.Has("initiatorName") && len(volume)+1+len(s.String("targetPortal")) > 64 {
		faults.Invalid(path, volume, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
}

// validateFlocker refuses a slash because the name is a directory on the node; the value "resource" in the
// second fault is what clients see.
func validateFlocker(s tree.Tree, path string, faults *schema.Faults) {
	name, id := s.String("datasetName"), s.String("datasetUUID")
	switch {
	case name == "" && id == "":
		faults.Required(path, "one of datasetName and datasetUUID is required")
	case name != "" && id != "":
		faults.Invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(name, "/") {
		faults.Invalid(path+".datasetName", name, "must not contain '/'")
	}
}

// validateQuobyte checks the syntax of registries but not that they exist. The fault of a long tenant has
// the reason Required, as clients know it.
func validateQuobyte(s tree.Tree, path string, faults *schema.Faults) {
	registry := s.String("registry")
	for _, pair := range strings.Split(registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil && registry != "" {
			faults.Invalid(path+".registry", registry, "must be a host:port pair or multiple pairs separated by commas")
		}
	}
	if len(s.String("tenant")) > 64 {
		faults.Required(path+".tenant", "must be a UUID and may not exceed a length of 64 characters")
	}
}

// validateAzureDisk checks that the URI of a disk fits its kind. A managed disk is a resource of its own,
// with an identifier below a subscription; an unmanaged one is a blob behind a URL. NotSupported carries
// the form that is expected as the only choice.
func validateAzureDisk(s tree.Tree, path string, faults *schema.Faults) {
	place := s.String("diskURI")
	const managed = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	const blob = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	isManaged := s.String("kind") == "Managed"
	switch {
	case place == "":
	case isManaged && !strings.HasPrefix(place, "/subscriptions/"):
		faults.NotSupported(path+".diskURI", place, []string{managed})
	case !isManaged && !strings.HasPrefix(place, "https://"):
		faults.NotSupported(path+".diskURI", place, []string{blob})
	}
}
