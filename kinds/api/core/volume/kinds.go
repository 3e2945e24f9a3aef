package volume

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the volume kinds with their strategies. message looks up a Declaration by name.
func Kinds(n *meta.Naming, message func(name string) *schema.Declaration) []schema.Behavior {
	return []schema.Behavior{
		{Name: "/v1/PersistentVolume", Strategy: persistentVolumeStrategy{spec: message("core.v1.PersistentVolumeSpec")}, Views: schema.Views{"status": {Write: writeVolumeStatus}}},
		{Name: "/v1/PersistentVolumeClaim", Strategy: persistentVolumeClaimStrategy{
			spec: message("core.v1.PersistentVolumeClaimSpec"), snapshots: n.Translate("snapshot.storage.platform.io"), class: n.Translate("volume.beta.platform.io/storage-class"),
		}},
	}
}
