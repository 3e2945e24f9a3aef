package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/http"
)

// healthChecks are the checks of /readyz, beside those of the HTTP server itself. They run for each probe
// and must not wait: a probe that hangs restarts a daemon that works.
func (d *Daemon) healthChecks() []http.Check {
	checks := []http.Check{
		{Name: "store", Check: d.store.Healthy},
		{Name: "stored-objects", Check: func() error { return nil }, Remark: d.unreadableRemark},
	}
	if d.etcd != nil {
		// Reads of what is known go on without etcd, and a restart would need it at once.
		checks = append(checks, http.Check{Name: "etcd", Check: d.etcd.Healthy, NotLive: true})
	} else {
		checks = append(checks, http.Check{Name: "disk", Check: d.journal.Healthy, Remark: d.diskRemark})
	}
	if d.encryption.configured() {
		// Reads go on without the plugins, and a restart would need them at once.
		checks = append(checks, http.Check{Name: "kms-providers", Check: d.encryption.transformer.Health, NotLive: true})
	}
	return checks
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

// diskRemark is what /readyz?verbose says of a disk that answers. A full disk is no failure of readiness:
// reads and deletes still work, and the deletes must reach the daemon.
func (d *Daemon) diskRemark() string {
	if d.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}
