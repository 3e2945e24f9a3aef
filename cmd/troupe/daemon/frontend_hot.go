package daemon

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/rewrites"
	"github.com/troupe-api/troupe/kinds/meta"
)

// HotPath is the URL path of the objects that controllers write repeatedly, as a Hot. It is
// authorized like BackupPath.
const HotPath = "/debug/hot"

// Hot lists the objects that were updated often, according to the watch history.
type Hot struct {
	Objects []rewrites.Object `json:"objects"`
}

// An object is hot if one manager has made more than maxUpdates updates in the watch history. The
// controllers of Kubernetes renew a Lease up to 30 times in the 5 minutes of the history.
const maxUpdates = 30

// writeHot decodes only objects with enough changes to be hot.
func (s *storage) writeHot(w io.Writer) error {
	changes := map[meta.Key]int{}
	s.store.RecentChanges(func(c actors.Change) { changes[c.Object.Key]++ })
	finder, last := rewrites.Finder{MaxUpdates: maxUpdates}, map[meta.Key]*meta.Object{}
	s.store.RecentChanges(func(c actors.Change) {
		key := c.Object.Key
		if changes[key] <= rewrites.MaxReverts {
			return
		}
		c.Previous = cmp.Or(c.Previous, last[key])
		last[key] = c.Object
		if write, err := rewrites.NewWrite(c); err == nil && c.Previous != nil {
			finder.Add(write)
		}
	})
	return json.NewEncoder(w).Encode(Hot{finder.Find()})
}
