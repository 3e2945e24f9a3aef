package daemon

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// startFlowControl starts API Priority and Fairness, unless it is disabled. The number of seats is
// the sum of the limits for mutating and other requests.
func (f *frontEnd) startFlowControl() error {
	s := f.config.Serving
	if !s.PriorityAndFairness {
		return nil
	}
	c := flowcontrol.New(f.naming, s.MaxRequestsInFlight+s.MaxMutatingRequestsInFlight)
	for _, follower := range c.Followers() {
		if err := follower.Follow(f.ctx, f.storage.objects); err != nil {
			return err
		}
	}
	f.run(c.Run)
	f.flowControl = c
	return nil
}

// flowControlResources returns the resources that configure flow control. A write to one of them
// returns only once it is in effect.
func (f *frontEnd) flowControlResources() (all []meta.GroupResource) {
	if f.flowControl != nil {
		for _, follower := range f.flowControl.Followers() {
			all = append(all, follower.Resource())
		}
	}
	return all
}
