package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of volumes with their functions. A claim's status has no Write of its own: the
// resize controller and the kubelet, which write it, record the times of its conditions themselves.
func Kinds(n *meta.Naming) []family.Kind {
	labels := warning.NewNodeLabels(n)
	return []family.Kind{
		{Name: "/v1/PersistentVolume", Rules: family.Warn(persistentVolumeRules(), volumeWarnings(n, labels)), Views: family.Views{"status": {Write: writeVolumeStatus}}},
		{Name: "/v1/PersistentVolumeClaim", Rules: family.Warn(persistentVolumeClaimRules(n), claimWarnings(n))},
	}
}
