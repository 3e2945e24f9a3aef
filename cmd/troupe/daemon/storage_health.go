package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/http"
)

// healthChecks are the checks of /readyz, beside those of the HTTP server itself. They run for each probe
// and must not wait: a probe that hangs restarts a daemon that works.
func (s *storage) healthChecks() []http.Check {
	checks := []http.Check{
		{Name: "store", Check: s.store.Healthy},
		{Name: "stored-objects", Check: func() error { return nil }, Remark: s.unreadableRemark},
	}
	if s.state.etcd != nil {
		// Reads of what is known go on without etcd, and a restart would need it at once.
		checks = append(checks, http.Check{Name: "etcd", Check: s.state.etcd.Healthy, NotLive: true})
	} else {
		checks = append(checks, http.Check{Name: "disk", Check: s.state.journal.Healthy, Remark: s.diskRemark})
	}
	if s.state.encryption.configured() {
		// Reads go on without the plugins, and a restart would need them at once.
		checks = append(checks, http.Check{Name: "kms-providers", Check: s.state.encryption.transformer.Health, NotLive: true})
	}
	return checks
}

// unreadableRemark is how many stored objects cannot be read, for /readyz?verbose. All others are
// served, so the check does not fail; which ones they are is told to administrators only.
func (s *storage) unreadableRemark() string {
	n := len(s.store.Unreadable())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(": %d cannot be read and are set aside, as troupe status tells", n)
}

// diskRemark is what /readyz?verbose says of a disk that answers. A full disk is no failure of readiness:
// reads and deletes still work, and the deletes must reach the daemon.
func (s *storage) diskRemark() string {
	if s.state.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}
