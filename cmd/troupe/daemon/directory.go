package daemon

import (
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// namingLabel is the label of the data directory that records its naming profile.
const namingLabel = "naming"

// withAdvice says with an error of the journal what can be done about it.
func withAdvice(err error) error {
	var advice string
	switch {
	case errors.Is(err, persist.ErrDataLoss):
		advice = "put the file back, or restore a backup into another directory; to go on with what is left, start once with --accept-data-loss"
	case errors.Is(err, persist.ErrLocked):
		advice = "stop the process that uses it, or choose another directory with --data-dir"
	case isCorrupt(err):
		advice = "restore the last backup into another directory, with troupe restore"
	default:
		return err
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*persist.CorruptError](err)
	return ok
}

// checkNaming records the naming profile in a new data directory and refuses one that was made
// under another profile.
func checkNaming(j *persist.Journal, dir string, naming *meta.Naming) error {
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
