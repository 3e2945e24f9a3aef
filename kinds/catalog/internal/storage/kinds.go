package storage

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of storage with their strategies. Kinds whose objects users write warn in
// every write; a CSIDriver only where something changes, as its installer applies it again and
// again.
func Kinds(n *meta.Naming) []family.Kind {
	labels := warning.NewNodeLabels(n)
	return []family.Kind{
		{Name: "storage.platform.io/v1/CSIDriver", Strategy: csiDriverStrategy{}},
		{Name: "storage.platform.io/v1/CSINode", Strategy: csiNodeStrategy{}},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Strategy: csiStorageCapacityStrategy{labels: labels}},
		{Name: "storage.platform.io/v1/StorageClass", Strategy: storageClassStrategy{labels: labels}},
		{Name: "storage.platform.io/v1/VolumeAttachment", Strategy: volumeAttachmentStrategy{}},
		{Name: "storage.platform.io/v1/VolumeAttributesClass", Strategy: volumeAttributesClassStrategy{}},
	}
}
