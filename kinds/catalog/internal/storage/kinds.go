package storage

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of storage with their functions. Kinds whose objects users write warn in every
// write; a CSIDriver only where something changes, as its installer applies it again and again.
func Kinds(n *meta.Naming) []family.Kind {
	labels := warning.NewNodeLabels(n)
	return []family.Kind{
		{Name: "storage.platform.io/v1/CSIDriver", Rules: family.WarnChanges(csiDriverRules(), warnCSIDriver)},
		{Name: "storage.platform.io/v1/CSINode", Rules: csiNodeRules()},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Rules: family.Warn(csiStorageCapacityRules(), capacityWarnings(labels))},
		{Name: "storage.platform.io/v1/StorageClass", Rules: family.Warn(storageClassRules(), storageClassWarnings(labels))},
		{Name: "storage.platform.io/v1/VolumeAttachment", Rules: volumeAttachmentRules()},
		{Name: "storage.platform.io/v1/VolumeAttributesClass", Rules: volumeAttributesClassRules()},
	}
}
