package daemon

import (
	"os"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
)

// runIdentityLease tells of this server in a Lease, unless that is switched off. Servers on one host would share it, so a
// machine without a name has none.
func (d *Daemon) runIdentityLease() {
	if !d.features.Enabled(features.APIServerIdentity) {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		d.log.Warn("this server has no Lease of its identity", "error", err)
		return
	}
	if d.etcd != nil { // several daemons may run on one host
		host += "/" + d.config.DataDir
	}
	d.controllers.run(controllers.NewAPIServerIdentity(d.store, d.kinds, host, d.log).Run)
}
