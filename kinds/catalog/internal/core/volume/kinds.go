package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of volumes with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "/v1/PersistentVolume", Rules: persistentVolumeRules(), Views: family.Views{"status": {Write: writeVolumeStatus}}},
		{Name: "/v1/PersistentVolumeClaim", Rules: persistentVolumeClaimRules(n)},
	}
}
