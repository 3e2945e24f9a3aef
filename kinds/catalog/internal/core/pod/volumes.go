package pod

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/internal/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// sourceRequired holds the required fields of each volume source, in the order in which they are
// reported. It is also the list of all sources.
var sourceRequired = map[string][]string{
	"awsElasticBlockStore":  {"volumeID"},
	"azureDisk":             {"diskName", "diskURI"},
	"azureFile":             {"secretName", "shareName"},
	"cephfs":                {"monitors"},
	"cinder":                {"volumeID"},
	"configMap":             {"name"},
	"csi":                   nil,
	"downwardAPI":           nil,
	"emptyDir":              nil,
	"ephemeral":             {"volumeClaimTemplate"},
	"fc":                    nil,
	"flexVolume":            {"driver"},
	"flocker":               nil,
	"gcePersistentDisk":     {"pdName"},
	"gitRepo":               {"repository"},
	"glusterfs":             {"endpoints", "path"},
	"hostPath":              {"path"},
	"image":                 {"reference"},
	"iscsi":                 {"targetPortal", "iqn"},
	"nfs":                   {"server", "path"},
	"persistentVolumeClaim": {"claimName"},
	"photonPersistentDisk":  {"pdID"},
	"portworxVolume":        {"volumeID"},
	"projected":             nil,
	"quobyte":               {"registry", "volume"},
	"rbd":                   {"monitors", "image"},
	"scaleIO":               {"gateway", "system", "volumeName"},
	"secret":                {"secretName"},
	"storageos":             {"volumeName"},
	"vsphereVolume":         {"volumePath"},
}

var sourceNames = slices.Sorted(maps.Keys(sourceRequired))

// validateVolumes checks spec.volumes and returns the source of each volume by the volume's name.
func validateVolumes(spec tree.Tree, path string, faults *schema.Faults) map[string]string {
	sources := map[string]string{}
	for i, v := range spec.Objects("volumes") {
		sources[v.String("name")] = validateVolume(spec, v, tree.IndexPath(path, i), faults)
	}
	delete(sources, "")
	return sources
}

// validateVolume requires exactly one source and checks it. It returns the name of the source.
func validateVolume(spec, v tree.Tree, path string, faults *schema.Faults) string {
	kind := ""
	for _, name := range sourceNames {
		source := v.Object(name)
		if source == nil {
			continue
		}
		if kind != "" {
			faults.Forbidden(path+"."+name, "may not specify more than 1 volume type")
			continue
		}
		kind = name
		at := path + "." + name
		field.Require(source, at, faults, sourceRequired[name]...)
		validateSource(spec, name, source, at, faults)
		if name == "iscsi" {
			volume.ValidateISCSIName(source, v.String("name"), path+".name", faults)
		}
	}
	if kind == "" {
		faults.Required(path, "must specify a volume type")
	}
	return kind
}

// validateEphemeralNames checks the names of the claims that are made for the ephemeral volumes of a Pod.
func validateEphemeralNames(pod tree.Tree, faults *schema.Faults) {
	name := pod.Object("metadata").String("name")
	for i, v := range pod.Object("spec").Objects("volumes") {
		volume := v.String("name")
		if name == "" || volume == "" || v.Object("ephemeral") == nil {
			continue // validateSource reports a missing claim template
		}
		claim := name + "-" + volume
		for _, msg := range rules.Subdomain(claim) {
			faults.Invalid(tree.IndexPath("spec.volumes", i)+".name", volume, fmt.Sprintf("PVC name %q: %s", claim, msg))
		}
	}
}

func validateSource(spec tree.Tree, name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "configMap", "secret":
		validateFileMode(s, "defaultMode", path, faults)
		validateKeyPaths(s, path, faults)
	case "downwardAPI":
		validateFileMode(s, "defaultMode", path, faults)
		validateDownwardAPI(s, path, faults)
	case "projected":
		validateProjected(spec, s, path, faults)
	case "ephemeral":
		validateClaimTemplate(s.Object("volumeClaimTemplate"), path+".volumeClaimTemplate", faults)
	case "emptyDir":
		if q := s.String("sizeLimit"); q != "" && quantity.Compare(q, "0") < 0 {
			faults.Forbidden(path+".sizeLimit", "SizeLimit field must be a valid resource quantity")
		}
	case "gitRepo":
		field.Format(s, "directory", path, faults, rules.RelativePath)
	case "csi":
		validateCSI(s, path, faults)
	default:
		volume.ValidateSource(name, s, path, faults)
	}
}

// validateFileMode checks the mode of files, if given: 0 to 0777 octal.
func validateFileMode(t tree.Tree, name, path string, faults *schema.Faults) {
	if n, ok := t.Int(name); ok && (n < 0 || n > 0o777) {
		faults.Invalid(tree.FieldPath(path, name), n, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// validateKeyPaths checks the mapping of keys to files.
func validateKeyPaths(source tree.Tree, path string, faults *schema.Faults) {
	for i, item := range source.Objects("items") {
		at := tree.IndexPath(path+".items", i)
		field.Format(item, "path", at, faults, validateLocalPath)
		validateFileMode(item, "mode", at, faults)
	}
}

// validateLocalPath checks a relative path that stays inside the volume and does not begin with "..",
// which names the files that the volume itself keeps.
func validateLocalPath(s string) []string {
	faults := rules.RelativePath(s)
	if strings.HasPrefix(s, "..") && !strings.HasPrefix(s, "../") && s != ".." {
		faults = append(faults, "must not start with '..'")
	}
	return faults
}

// validateDownwardAPI checks the files with fields of the Pod. The paths of its faults have no index,
// as clients expect.
func validateDownwardAPI(source tree.Tree, path string, faults *schema.Faults) {
	for _, item := range source.Objects("items") {
		field.Require(item, path, faults, "path")
		field.Format(item, "path", path, faults, validateLocalPath)
		field, amount := item.Object("fieldRef"), item.Object("resourceFieldRef")
		switch {
		case field != nil && amount != nil:
			faults.Invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		case field != nil:
			validateFieldRef(field, path+".fieldRef", volumeFields, faults)
		case amount != nil:
			validateResourceRef(amount, path+".resourceFieldRef", true, faults)
		default:
			faults.Required(path, "one of fieldRef and resourceFieldRef is required")
		}
		validateFileMode(item, "mode", path, faults)
	}
}

func validateCSI(s tree.Tree, path string, faults *schema.Faults) {
	volume.ValidateDriverName(s, "driver", path, faults)
	if ref := s.Object("nodePublishSecretRef"); ref != nil {
		field.Require(ref, path+".nodePublishSecretRef", faults, "name")
	}
}

// validateClaimTemplate checks the claim that is created with the Pod. Its metadata may hold labels
// and annotations only.
func validateClaimTemplate(t tree.Tree, path string, faults *schema.Faults) {
	if t == nil {
		return
	}
	m := t.Object("metadata")
	for _, name := range m.SortedKeys() {
		if name != "labels" && name != "annotations" && !tree.IsEmpty(m[name]) {
			faults.Forbidden(path+".metadata."+name, "cannot be set for an ephemeral volume")
		}
	}
	rules.ValidateLabels(m.Object("labels"), path+".metadata.labels", faults)
	rules.ValidateAnnotations(m.Object("annotations"), path+".metadata.annotations", faults)
	volume.ValidateClaimSpec(t.Object("spec"), path+".spec", faults)
}
