package volume

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deprecatedSources are volume sources without a driver, in the order of warnings. Versions are
// those of Kubernetes.
var deprecatedSources = [...]struct{ field, text string }{
	{"cephfs", "spec.cephfs: deprecated in v1.28, non-functional in v1.31+"},
	{"photonPersistentDisk", "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"},
	{"scaleIO", "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+"},
	{"storageos", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+"},
	{"rbd", "spec.rbd: deprecated in v1.28, non-functional in v1.31+"},
}

// Warnings warns about deprecated parts of a PersistentVolume, including empty annotations.
func (s persistentVolumeStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	annotations, spec := obj.Object("metadata", "annotations"), obj.Object("spec")
	if _, given := annotations[s.class]; given {
		texts = append(texts, classWarning(s.class))
	}
	if _, given := annotations[s.options]; given {
		texts = append(texts, tree.KeyPath("metadata.annotations", s.options)+`: deprecated since v1.31; use "mountOptions" attribute instead`)
	}
	if spec.String("persistentVolumeReclaimPolicy") == "Recycle" {
		texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	texts = s.labels.AppendTerms(texts, spec.Object("nodeAffinity", "required").List("nodeSelectorTerms"), warning.At("", "spec.nodeAffinity.required.nodeSelectorTerms"))
	for _, source := range deprecatedSources {
		if spec.Has(source.field) {
			texts = append(texts, source.text)
		}
	}
	return texts
}

func classWarning(key string) string {
	return tree.KeyPath("metadata.annotations", key) + `: deprecated since v1.8; use "storageClassName" attribute instead`
}

// Warnings warns about deprecated parts of a PersistentVolumeClaim, and about fractions of bytes: a
// request of "1.5" or with the suffix m usually is a typo for M or G.
func (s persistentVolumeClaimStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	if _, given := obj.Object("metadata", "annotations")[s.class]; given {
		texts = append(texts, classWarning(s.class))
	}
	for _, text := range warning.ClaimSizes(obj.Object("spec")) {
		texts = append(texts, "spec"+text)
	}
	return texts
}
