package daemon

import (
	"fmt"

	"github.com/troupe-api/troupe/http"
)

// healthChecks returns the storage checks of /readyz. They must not block, because a probe timeout
// can cause the restart of a working daemon.
func (s *storage) healthChecks() []http.Check {
	checks := []http.Check{
		{Name: "store", Check: s.store.Healthy},
		{Name: "stored-objects", Check: func() error { return nil }, Remark: s.unreadableRemark},
	}
	if s.state.etcd != nil {
		// The liveness check excludes etcd, because cached reads work without it. A restart would
		// not help, because a daemon cannot start without etcd.
		checks = append(checks, http.Check{Name: "etcd", Check: s.state.etcd.Healthy, NotLive: true})
	} else {
		checks = append(checks, http.Check{Name: "disk", Check: s.state.journal.Healthy, Remark: s.diskRemark})
	}
	if s.state.encryption.configured() {
		// The liveness check excludes the KMS plugins, because reads work without them. A restart
		// would not help, because a daemon cannot start without them.
		checks = append(checks, http.Check{Name: "kms-providers", Check: s.state.encryption.transformer.Health, NotLive: true})
	}
	return checks
}

// unreadableRemark returns the number of unreadable objects for /readyz?verbose. The check still
// succeeds, because all other objects are served.
func (s *storage) unreadableRemark() string {
	n := len(s.store.Unreadable())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(": %d unreadable objects are set aside (troupe status lists them)", n)
}

// diskRemark reports a full disk for /readyz?verbose. The daemon stays ready, because deletes that
// free space must reach it.
func (s *storage) diskRemark() string {
	if s.state.journal.Stats().Full {
		return ": it is full, and only deletes are accepted"
	}
	return ""
}
