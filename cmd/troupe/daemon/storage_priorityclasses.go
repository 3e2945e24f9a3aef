package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
)

// ensurePriorityClasses makes the priority classes of the system. Without them the daemon works as well, for
// Pods that name none; so it starts also when the disk is full.
func (d *Daemon) ensurePriorityClasses() {
	if err := controllers.EnsureSystemPriorityClasses(context.Background(), d.store, d.kinds); err != nil {
		d.log.Warn("making the priority classes of the system", "error", err)
	}
}
