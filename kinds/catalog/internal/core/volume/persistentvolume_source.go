package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// volumeSources are the sources of a PersistentVolume, sorted. Most of them are served by no driver any
// more, but volumes with them are still stored, and must be read and deleted. That exactly one is set is
// declared.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}

// validateVolumeSource checks the source of a volume; of several, which is a fault, the first.
func validateVolumeSource(spec tree.Tree, path string, faults *schema.Faults) {
	for _, name := range volumeSources {
		if source := spec.Object(name); source != nil {
			validateVolumeBackend(name, source, path+"."+name, faults)
			return
		}
	}
}

// validateVolumeBackend has what differs from the sources of Pods: a PersistentVolume is in no namespace,
// so its references to Secrets and Endpoints carry one.
func validateVolumeBackend(name string, s tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "csi":
		for _, ref := range []string{
			"controllerExpandSecretRef", "controllerPublishSecretRef", "nodeExpandSecretRef", "nodePublishSecretRef", "nodeStageSecretRef",
		} {
			validateSecretReference(s.Object(ref), path+"."+ref, faults)
		}
	case "glusterfs":
		validateGlusterfs(s, path, faults)
	// nil takes the claim's namespace, where "" cannot mean the same without being ambiguous.
	case "azureFile":
		if ns, ok := s["secretNamespace"].(string); ok && ns == "" {
			faults.Required(path + ".secretNamespace")
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
	field.Format(ref, "name", path, faults, rules.Subdomain)
	field.Format(ref, "namespace", path, faults, rules.Label)
}

// validateGlusterfs checks the namespace of the Endpoints, which is that of the claim where it is absent.
func validateGlusterfs(s tree.Tree, path string, faults *schema.Faults) {
	ns, ok := s["endpointsNamespace"].(string)
	if ok && ns == "" {
		faults.Invalid(path+".endpointsNamespace", ns, "if the endpointnamespace is set, it must be a valid namespace name")
	}
}
