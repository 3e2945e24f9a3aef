package daemon

import (
	"io"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// newFlowControl makes what shares the server among requests, and follows the objects that say how; nil if it is switched off.
// There are as many seats as requests may be in flight, reads and writes together.
func (d *Daemon) newFlowControl() (*flowcontrol.Controller, error) {
	s := d.config.Serving
	if !s.PriorityAndFairness {
		return nil, nil
	}
	c := flowcontrol.New(d.naming, s.MaxRequestsInFlight+s.MaxMutatingRequestsInFlight)
	for _, f := range c.Followers() {
		if err := f.Follow(d.background.ctx, d.objects); err != nil {
			return nil, err
		}
	}
	d.background.run(c.Run)
	return c, nil
}

// flowControlResources are those that say how requests share the server: a write of them is answered when it counts.
func (d *Daemon) flowControlResources() (all []meta.GroupResource) {
	if d.flowControl != nil {
		for _, f := range d.flowControl.Followers() {
			all = append(all, f.Resource())
		}
	}
	return all
}

// writeFlowControl writes nothing if priority and fairness is switched off.
func (d *Daemon) writeFlowControl(w io.Writer) {
	if d.flowControl != nil {
		d.flowControl.WriteMetrics(w)
	}
}
