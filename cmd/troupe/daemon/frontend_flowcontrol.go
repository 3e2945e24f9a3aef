package daemon

import (
	"io"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// startFlowControl makes what shares the server among requests, and follows the objects that say how; nothing if it is switched off.
// There are as many seats as requests may be in flight, reads and writes together.
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

// flowControlResources are those that say how requests share the server: a write of them is answered when it counts.
func (f *frontEnd) flowControlResources() (all []meta.GroupResource) {
	if f.flowControl != nil {
		for _, follower := range f.flowControl.Followers() {
			all = append(all, follower.Resource())
		}
	}
	return all
}

// writeFlowControl writes nothing if priority and fairness is switched off.
func (f *frontEnd) writeFlowControl(w io.Writer) {
	if f.flowControl != nil {
		f.flowControl.WriteMetrics(w)
	}
}
