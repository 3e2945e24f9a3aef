package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/http"
)

// healthChecks are the checks of /readyz, beside those of the HTTP server itself.
func (d *Daemon) healthChecks() []http.Check {
	return []http.Check{
		{Name: "store", Check: d.store.Healthy},
		{Name: "stored-objects", Check: func() error { return nil }, Remark: d.unreadableRemark},
		{Name: "disk", Check: d.journal.Healthy, Remark: d.diskRemark},
	}
}

// unreadableRemark is how many stored objects cannot be read, for /readyz?verbose. All others are
// served, so the check does not fail; which ones they are is told to administrators only.
func (d *Daemon) unreadableRemark() string {
	n := len(d.store.Unreadable())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(": %d cannot be read and are set aside, as troupe status tells", n)
}

// diskRemark is what /readyz?verbose says of a disk that answers.
func (d *Daemon) diskRemark() string {
	if d.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}
