package storage

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of storage with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "storage.platform.io/v1/CSIDriver", Rules: csiDriverRules()},
		{Name: "storage.platform.io/v1/CSINode", Rules: csiNodeRules()},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Rules: csiStorageCapacityRules()},
		{Name: "storage.platform.io/v1/StorageClass", Rules: storageClassRules()},
		{Name: "storage.platform.io/v1/VolumeAttachment", Rules: volumeAttachmentRules()},
		{Name: "storage.platform.io/v1/VolumeAttributesClass", Rules: volumeAttributesClassRules()},
	}
}
