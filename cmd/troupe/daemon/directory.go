package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// namingLabel is the label of the data directory that records its naming profile.
const namingLabel = "naming"

// claim records the naming profile in a new data directory and refuses one that was made
// under another profile.
func claim(j *persist.Journal, dir string, naming *meta.Naming) error {
	recorded, ok := j.Label(namingLabel)
	switch {
	case !ok:
		return j.SetLabel(namingLabel, naming.Profile)
	case recorded != naming.Profile:
		return fmt.Errorf("%s was made under the naming profile %s and cannot be opened under %s: start with --naming %s, or with another --data-dir",
			dir, recorded, naming.Profile, recorded)
	}
	return nil
}
