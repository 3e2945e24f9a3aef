package daemon

import (
	"os"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
)

// runIdentityLease keeps a Lease for this server if the APIServerIdentity feature gate is enabled.
// Without a host name, there is no Lease, because the Lease is named after the host.
func (c *serverControllers) runIdentityLease() {
	if !c.features.Enabled(features.APIServerIdentity) {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		c.log.Warn("the server has no identity Lease", "error", err)
		return
	}
	if c.leadership.election != nil { // several daemons may run on one host
		host += "/" + c.config.DataDir
	}
	c.run(apiserver.NewIdentity(controllers.NewEnv(c.storage.store, c.storage.kinds, c.log), host).Run)
}
