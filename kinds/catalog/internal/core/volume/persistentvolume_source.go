package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// volumeSources are the sources of a PersistentVolume, sorted.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}

// validateVolumeSource requires exactly one source and checks it.
func validateVolumeSource(spec tree.Tree, path string, faults *schema.Faults) {
	n := 0
	for _, name := range volumeSources {
		source := spec.Object(name)
		if source == nil {
			continue
		}
		at := path + "." + name
		if n++; n > 1 {
			faults.Forbidden(at, "may not specify more than 1 volume type")
			continue
		}
		validateVolumeBackend(name, source, at, faults)
	}
	if n == 0 {
		faults.Required(path, "must specify a volume type")
	}
}

func validateVolumeBackend(name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "csi":
		ValidateDriverName(s, "driver", path, faults)
		for _, ref := range []string{
			"controllerExpandSecretRef", "controllerPublishSecretRef", "nodeExpandSecretRef", "nodePublishSecretRef", "nodeStageSecretRef",
		} {
			validateSecretReference(s.Object(ref), path+"."+ref, faults)
		}
	case "local":
		field.Format(s, "path", path, faults, rules.NoDotDot)
	case "glusterfs":
		validateGlusterfs(s, path, faults)
	case "azureFile":
		if ns, ok := s["secretNamespace"].(string); ok && ns == "" {
			faults.Required(path + ".secretNamespace")
		}
	case "cinder", "storageos":
		ValidateSource(name, s, path, faults)
		if ref := s.Object("secretRef"); ref != nil {
			field.Require(ref, path+".secretRef", faults, "namespace")
		}
	default:
		ValidateSource(name, s, path, faults)
	}
}

// validateSecretReference checks a reference to a Secret in any namespace; nil is fine.
func validateSecretReference(ref tree.Tree, path string, faults *schema.Faults) {
	if ref == nil {
		return
	}
	field.Require(ref, path, faults, "name", "namespace")
	field.Format(ref, "name", path, faults, rules.Subdomain)
	field.Format(ref, "namespace", path, faults, rules.Label)
}

func validateGlusterfs(s tree.Tree, path string, faults *schema.Faults) {
	ns, ok := s["endpointsNamespace"].(string)
	if ok && ns == "" {
		faults.Invalid(path+".endpointsNamespace", ns, "if the endpointnamespace is set, it must be a valid namespace name")
	}
	field.Format(s, "endpointsNamespace", path, faults, rules.Label)
}
