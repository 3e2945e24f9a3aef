package volume

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of volumes with their functions. A claim's status has no Write of its own: the
// resize controller and the kubelet, which write it, record the times of its conditions themselves.
// message finds the structure of a message by its name.
func Kinds(n *meta.Naming, message func(name string) *schema.Message) []family.Kind {
	labels := warning.NewNodeLabels(n)
	return []family.Kind{
		{Name: "/v1/PersistentVolume", Rules: family.Warn(persistentVolumeRules(message("core.v1.PersistentVolumeSpec")), volumeWarnings(n, labels)), Views: family.Views{"status": {Write: writeVolumeStatus}}},
		{Name: "/v1/PersistentVolumeClaim", Rules: family.Warn(persistentVolumeClaimRules(n, message("core.v1.PersistentVolumeClaimSpec")), claimWarnings(n))},
	}
}
