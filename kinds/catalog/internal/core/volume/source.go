package volume

import (
	"net"
	"regexp"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateSource checks what the volume sources of Pods and of PersistentVolumes have in common, beyond
// what the declarations say.
func ValidateSource(name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "hostPath":
		field.Format(s, "path", path, faults, rules.NoDotDot)
	case "fc":
		validateFC(s, path, faults)
	case "iscsi":
		validateISCSI(s, path, faults)
	case "flexVolume", "cinder":
		if ref := s.Object("secretRef"); ref != nil {
			field.Require(ref, path+".secretRef", faults, "name")
		}
	case "flocker":
		validateFlocker(s, path, faults)
	case "quobyte":
		validateQuobyte(s, path, faults)
	case "azureDisk":
		validateAzureDisk(s, path, faults)
	case "storageos":
		validateStorageOS(s, path, faults)
	}
}

// validateFC requires either wwids, or targetWWNs and lun.
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

// iscsiNames are the patterns of names of initiators and targets by their prefix.
var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`^iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(:[^,;*&$|\s]+)?$`),
	"eui": regexp.MustCompile(`^eui\.[A-Za-z0-9]{16}$`),
	"naa": regexp.MustCompile(`^naa\.[A-Za-z0-9]{32}$`),
}

func validateISCSI(s tree.Tree, path string, faults *schema.Faults) {
	for _, field := range []string{"iqn", "initiatorName"} {
		name := s.String(field)
		pattern := iscsiNames[name[:min(len(name), 3)]]
		switch {
		case name == "" && (field == "iqn" || !s.Has(field)): // absent; the declaration requires the iqn
		case pattern == nil:
			faults.Invalid(path+"."+field, name, "must be valid format starting with iqn, eui, or naa")
		case !pattern.MatchString(name):
			faults.Invalid(path+"."+field, name, "must be valid format")
		}
	}
	chap := s.Bool("chapAuthDiscovery") || s.Bool("chapAuthSession")
	if chap && !s.Has("secretRef") {
		faults.Required(path + ".secretRef")
	}
	if ref := s.Object("secretRef"); ref != nil {
		field.Require(ref, path+".secretRef", faults, "name")
	}
}

// ValidateISCSIName bounds the length of <volume name>:<portal> where the initiator has a name of its
// own. path is the path of the volume's name.
func ValidateISCSIName(s tree.Tree, volume, path string, faults *schema.Faults) {
	if s.Has("initiatorName") && len(volume)+1+len(s.String("targetPortal")) > 64 {
		faults.Invalid(path, volume, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
}

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

// validateAzureDisk checks that the URI of a disk fits its kind.
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

func validateStorageOS(s tree.Tree, path string, faults *schema.Faults) {
	field.Require(s, path, faults, "volumeName")
	field.Format(s, "volumeName", path, faults, rules.Label)
	field.Format(s, "volumeNamespace", path, faults, rules.Label)
	if ref := s.Object("secretRef"); ref != nil {
		field.Require(ref, path+".secretRef", faults, "name")
	}
}
