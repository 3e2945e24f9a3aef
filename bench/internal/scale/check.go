package scale

import (
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// Check is a prediction beside what was measured.
type Check struct {
	What, Unit          string
	Predicted, Measured float64
	Bound               float64 // by which factor they may differ
}

// Deviation is the factor between them, from 1 up.
func (c Check) Deviation() float64 {
	if c.Predicted <= 0 || c.Measured <= 0 {
		return 0
	}
	return max(c.Predicted/c.Measured, c.Measured/c.Predicted)
}

// Holds says whether the prediction is good enough.
func (c Check) Holds() bool { d := c.Deviation(); return 1 <= d && d <= c.Bound }

// How far predictions may be from what was measured. Latencies and rates depend on what other programs do at the time, and those of the
// tail on what the model does not have, such as collections of garbage; a start on what the system has in its cache. A process that
// has little to do falls asleep between two writes, and pays for waking up.
const (
	boundCPU         = 1.25
	boundMedian      = 2
	boundPacedCPU    = 1.5 // at a rate
	boundPacedMedian = 2.5
	boundRate        = 2
	boundTail        = 3
	boundBatch       = 2
	boundSize        = 1.25
	boundLoaded      = 1.5 // memory under load, which is predicted as the most that it may be
	boundStart       = 1.5
	boundFar         = 2 // ten times and more from where the parameters were taken
)

// seed is that of all runs of the page.
const seed = 1

// lastLoad is the load after which memory has grown as far as it does.
const lastLoad = "2,000 updates a second"

// checks are the predictions for what was measured, but for the rows that parameters were taken from.
func (r *rows) checks(p Parameters) []Check {
	var all []Check
	for _, store := range []string{"disk", "etcd"} {
		for _, clients := range []int{8, 32, 128} {
			all = append(all, r.loadChecks(p, store, measure.Plural(clients, "client"), Setup{Clients: clients})...)
		}
		for _, rate := range []int{500, 2_000} {
			all = append(all, r.loadChecks(p, store, measure.Plural(rate, "update")+" a second", Setup{Rate: float64(rate)})...)
		}
		cost := p.costOf(store == "etcd")
		for _, grown := range []struct {
			what  string
			line  line
			bound float64
		}{{"memory", cost.Memory, boundSize}, {"start", cost.Start, boundStart}, {"start without a copy", cost.StartWithout, boundStart}, {"bytes", cost.Bytes, boundSize}} {
			if grown.line == (line{}) {
				continue
			}
			for _, s := range r.sizes(store, grown.what)[2:] {
				all = append(all, Check{s.row.Name, s.row.Figure.Unit, grown.line.At(s.objects), s.row.Figure.Value, grown.bound})
			}
		}
	}
	grown := r.sizes("disk", "memory")
	_, atMost := p.memory(Setup{}, grown[len(grown)-1].objects)
	if loaded := r.row("scale, disk, " + lastLoad); loaded.Resident != nil {
		all = append(all, Check{"scale, disk, memory under load", "MiB resident", atMost, *loaded.Resident, boundLoaded})
	}
	const million = 1_000_000
	for _, far := range []struct {
		name      string
		predicted float64
	}{{"million, memory recovered", p.Disk.Memory.At(million)}, {"million, recovery", p.Disk.Start.At(million)}} {
		if row := r.byName[far.name]; row != nil && row.Figure != nil {
			all = append(all, Check{far.name, row.Figure.Unit, far.predicted, row.Figure.Value, boundFar})
		}
	}
	return all
}

// loadChecks are those of one load.
func (r *rows) loadChecks(p Parameters, store, load string, setup Setup) []Check {
	name := "scale, " + store + ", " + load
	row := r.row(name)
	setup.Daemons, setup.Processors, setup.OneMachine = 1, p.Processors, true
	if store == "etcd" {
		setup.Etcds, setup.Largest = 1, 1
	}
	o := Simulate(p, setup, seed)
	cpuBound, medianBound := boundCPU, float64(boundMedian)
	if setup.Clients == 0 {
		cpuBound, medianBound = boundPacedCPU, boundPacedMedian
	}
	all := []Check{{name + ", median", "µs", o.P50, row.P50, medianBound}, {name + ", p99", "µs", o.P99, row.P99, boundTail}}
	if setup.Clients > 0 && load != most {
		all = append(all, Check{name + ", rate", "updates/s", o.Rate, row.Rate, boundRate})
	}
	if row.Figure != nil {
		all = append(all, Check{name + ", shared", row.Figure.Unit, o.Batch, row.Figure.Value, boundBatch})
	}
	if row.CPU != nil && load != most {
		c := p.costOf(store == "etcd")
		all = append(all, Check{name + ", CPU", "µs", c.Write + c.EtcdWrite + (c.Batch+c.EtcdBatch)/o.Batch, *row.CPU, cpuBound})
	}
	return all
}

// Failed is an error that names what left its bound.
func Failed(checks []Check) error {
	var failed []error
	for _, c := range checks {
		if !c.Holds() {
			failed = append(failed, fmt.Errorf("%s: predicted %s %s, measured %s: a factor of %s, and at most %s is right",
				c.What, measure.Short(c.Predicted), c.Unit, measure.Short(c.Measured), measure.Short(c.Deviation()), measure.Short(c.Bound)))
		}
	}
	return errors.Join(failed...)
}

// title is the name of a check without what all have in common.
func (c Check) title() string { return strings.TrimPrefix(c.What, "scale, ") }
