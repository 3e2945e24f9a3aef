package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/http"
)

// healthChecks returns the checks of /readyz beyond those of the HTTP server. They must not block:
// a probe that hangs would restart a working daemon.
func (s *storage) healthChecks() []http.Check {
	checks := []http.Check{
		{Name: "store", Check: s.store.Healthy},
		{Name: "stored-objects", Check: func() error { return nil }, Remark: s.unreadableRemark},
	}
	if s.state.etcd != nil {
		// Cached reads work without etcd, and a restart would need it.
		checks = append(checks, http.Check{Name: "etcd", Check: s.state.etcd.Healthy, NotLive: true})
	} else {
		checks = append(checks, http.Check{Name: "disk", Check: s.state.journal.Healthy, Remark: s.diskRemark})
	}
	if s.state.encryption.configured() {
		// Reads work without the plugins, and a restart would need them.
		checks = append(checks, http.Check{Name: "kms-providers", Check: s.state.encryption.transformer.Health, NotLive: true})
	}
	return checks
}

// unreadableRemark returns the number of unreadable objects for /readyz?verbose. The check
// succeeds, because all other objects are served.
func (s *storage) unreadableRemark() string {
	n := len(s.store.Unreadable())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(": %d unreadable objects are set aside (troupe status lists them)", n)
}

// diskRemark reports a full disk for /readyz?verbose. That does not fail readiness, because the
// deletes that free space must reach the daemon.
func (s *storage) diskRemark() string {
	if s.state.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}
