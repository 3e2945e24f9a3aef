package daemon

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/network/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
)

// clusterControllers are the controllers that usually run in kube-controller-manager. Their
// writes pass admission, and some of them check the permissions of users.
type clusterControllers struct {
	base

	env       *controllers.Env    // writes pass admission
	manager   *controllers.Leader // kube-controller-manager
	scheduler *controllers.Leader // kube-scheduler
	backends  *endpoints.Backends // shared by the controllers of endpoints
	workloads *workloads.Group    // shared by the controllers of workloads

	publishRootCA, publishTrustBundle atomic.Pointer[func()] // callbacks of the newest controller instances
}

func (c *clusterControllers) Start() error {
	kinds := c.storage.kinds
	c.env = controllers.NewEnv(c.policy.admitting(c.leadership.store()), kinds, c.log)
	read := controllers.NewEnv(c.storage.store, kinds, c.log)
	c.manager, c.scheduler = controllers.NewLeader(read, "platform-controller-manager"), controllers.NewLeader(read, "platform-scheduler")
	c.backends = endpoints.NewBackends(c.env)
	c.workloads = workloads.NewGroup(c.env, c.manager)
	follow := map[*controllers.Leader]func(){}
	for _, l := range []*controllers.Leader{c.manager, c.scheduler} {
		follow[l] = sync.OnceFunc(func() { c.run(l.Run) })
	}
	for _, b := range builtIns {
		if b.ofCluster == nil || !c.enables(b) {
			continue
		}
		var made controller = newRemadeController(func() controller { return b.ofCluster(c) })
		leader := c.manager
		if b.twin == stopsForScheduler {
			leader = c.scheduler
		}
		if b.twin != noTwin {
			follow[leader]()
		}
		if b.twin == stops || b.twin == stopsForScheduler {
			made = yieldingController{made, leader}
		}
		c.run(func(ctx context.Context) {
			c.leadership.lead(controllers.WithWorkqueueMetrics(ctx, c.serverControllers.workqueueMetrics, b.name), made.Run)
		})
	}
	return nil
}

// onTrustChange calls publish after changes to the trust bundle. Controllers are recreated for each
// run, so publish replaces the previous instance's function in current. The first call must precede
// the start of the reloader.
func (c *clusterControllers) onTrustChange(current *atomic.Pointer[func()], publish func()) {
	if current.Swap(&publish) == nil {
		c.identity.onTrustChange(func() { (*current.Load())() })
	}
}
