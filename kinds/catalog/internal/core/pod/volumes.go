package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// volumeSources are the sources of a volume, in the order in which they are looked at. Of several, which is a fault, the first counts.
var volumeSources = []string{
	"emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
	"glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc",
	"flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk",
	"storageos", "projected", "scaleIO", "csi", "ephemeral", "image",
}

// validateVolumes checks spec.volumes and returns the source of each volume by the volume's name.
//
// A name that is given twice is reported by the declaration; the last source counts here. A volume with faults of its
// own, or with several sources, is none that a container could mount.
func validateVolumes(spec tree.Tree, path string, faults *schema.Faults) map[string]string {
	sources := map[string]string{}
	for i, v := range spec.Objects("volumes") {
		before := len(faults.List)
		source := validateVolume(v, tree.IndexPath(path, i), faults)
		if len(faults.List) == before && countSources(v) <= 1 {
			sources[v.String("name")] = source
		}
	}
	delete(sources, "")
	return sources
}

// validateVolume checks the source of a volume and returns its name; "" if there is none.
func validateVolume(v tree.Tree, path string, faults *schema.Faults) string {
	for _, name := range volumeSources {
		source := v.Object(name)
		if source == nil {
			continue
		}
		validateSource(name, source, path+"."+name, faults)
		if name == "iscsi" {
			volume.ValidateISCSIName(source, v.String("name"), path+".name", faults)
		}
		return name
	}
	return ""
}

// countSources is how many sources a volume has.
func countSources(v tree.Tree) int {
	n := 0
	for _, name := range volumeSources {
		if v.Object(name) != nil {
			n++
		}
	}
	return n
}

// validateEphemeralNames checks the names of the claims that are made for the ephemeral volumes of a Pod.
// The claim's name is made of both names by a fixed rule, so that a Pod finds it without a reference. It
// may be too long although each of them is valid.
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

// Sources that only a Pod can have are checked here, those that persistent volumes have too in package volume.
func validateSource(name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "downwardAPI":
		validateDownwardAPI(s, path, faults)
	case "projected":
		validateProjected(s, path, faults)
	case "ephemeral":
		validateClaimTemplate(s.Object("volumeClaimTemplate"), path+".volumeClaimTemplate", faults)
	case "csi":
		field.Format(s.Object("nodePublishSecretRef"), "name", path, faults, rules.Subdomain) // without the part's own name, as clients know it
	case "emptyDir":
		if q := s.String("sizeLimit"); q != "" && quantity.Compare(q, "0") < 0 {
			faults.Forbidden(path+".sizeLimit", "SizeLimit field must be a valid resource quantity")
		}
	default:
		volume.ValidateSource(name, s, path, faults)
	}
}

// validateDownwardAPI checks the files with fields of the Pod. The paths of its faults have no index,
// as clients expect.
func validateDownwardAPI(source tree.Tree, path string, faults *schema.Faults) {
	for _, item := range source.Objects("items") {
		field.Require(item, path, faults, "path")
		field.Format(item, "path", path, faults, rules.LocalPath)
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
		if n, ok := item.Int("mode"); ok && (n < 0 || n > 0o777) {
			faults.Invalid(path+".mode", n, "must be a number between 0 and 0777 (octal), both inclusive")
		}
	}
}

// validateClaimTemplate checks the claim that is created with the Pod. Its metadata may hold labels and
// annotations only. Its name and owner are given by the controller that creates it.
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
