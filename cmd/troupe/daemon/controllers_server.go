package daemon

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/actors/controllers/crd"
	"github.com/troupe-api/troupe/actors/controllers/tokens"
)

// serverControllers are the controllers that the API server runs for itself. They start before
// requests are served, and their writes bypass authorization and admission.
type serverControllers struct {
	base

	definitions       *crd.Controller // serves the kinds of CustomResourceDefinitions
	legacyTokens      *tokens.LegacyTracking
	apiServiceMetrics *apiservices.Metrics
	workqueueMetrics  *controllers.WorkqueueMetrics // metrics of all controllers
}

// A preparer is a controller that creates objects that clients need from the first request. Before
// serving, the daemon waits up to maxPreparation for Ready to be closed.
type preparer interface{ Ready() <-chan struct{} }

// maxPreparation limits the wait for preparers, because the daemon must serve even if the store
// cannot write.
const maxPreparation = 10 * time.Second

func (c *serverControllers) Start() error {
	store, kinds := c.storage.store, c.storage.kinds
	c.apiServiceMetrics, c.workqueueMetrics = apiservices.NewMetrics(), controllers.NewWorkqueueMetrics()
	c.definitions = crd.New(store, kinds, c.log)
	c.run(c.definitions.Run)
	env := controllers.NewEnv(store, kinds, c.log)
	c.run(apiserver.NewSystemObjects(env).Run)
	c.legacyTokens = tokens.NewLegacyTracking(env)
	c.run(c.legacyTokens.Run)
	c.runIdentityLease()
	preparers := c.runBuiltIns()
	if ttl := time.Duration(c.config.API.EventTTL); ttl > 0 {
		expiry := apiserver.NewEventExpiry(controllers.NewEnv(c.leadership.store(), kinds, c.log), ttl)
		c.run(func(ctx context.Context) { c.leadership.lead(ctx, expiry.Run) })
	}
	// The preparers run concurrently, so they share one timeout.
	timeout := time.After(maxPreparation)
	for _, p := range preparers {
		select {
		case <-p.Ready():
		case <-timeout:
			c.log.Warn("serving begins before all controllers are ready")
			return nil
		}
	}
	return nil
}

// runBuiltIns starts the enabled built-in controllers of the API server. It returns the preparers
// that run without leader election.
func (c *serverControllers) runBuiltIns() (preparers []preparer) {
	for _, b := range builtIns {
		if b.ofServer == nil || !c.enables(b) {
			continue
		}
		l := c.leadership
		if b.runsOn == everyDaemon {
			l = &leadership{base: c.base} // without an election
		}
		env := controllers.NewEnv(l.store(), c.storage.kinds, c.log)
		r := newRemadeController(func() controller { return b.ofServer(c, env) })
		if p, ok := r.next.(preparer); ok && l.election == nil {
			preparers = append(preparers, p)
		}
		c.run(func(ctx context.Context) {
			l.lead(controllers.WithWorkqueueMetrics(ctx, c.workqueueMetrics, b.name), r.Run)
		})
	}
	return preparers
}
