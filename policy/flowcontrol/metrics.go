package flowcontrol

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/internal/metrics"
)

// prefix is that of kube-apiserver.
const prefix = "apiserver_flowcontrol_"

// A levelFigures is a snapshot of a level's counters.
type levelFigures struct {
	name                             string
	nominal, lower, upper, limit     int
	forecast                         forecast
	virtual, lastDispatch            float64
	undesired, idle                  bool
	waiting, executing, activeQueues int
	dispatched, rejected             uint64
	timedOut, cancelled              uint64
	schemas                          []schemaFigures
}

// A schemaFigures is a snapshot of a schema's counters at a level.
type schemaFigures struct {
	name string
	*stats
}

// figures returns snapshots of all levels, sorted by name.
func (c *Controller) figures() []levelFigures {
	levels := c.current.Load().levels
	all := make([]levelFigures, 0, len(levels))
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, levels[name].figures())
	}
	return all
}

// figures takes a consistent snapshot under the lock. It omits schemas without requests.
func (l *level) figures() levelFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := levelFigures{
		name: l.spec.name, nominal: l.nominal, lower: l.lower, upper: l.upper, limit: l.limit, forecast: l.forecast,
		virtual: l.virtual, lastDispatch: l.lastDispatch, undesired: l.undesired, idle: l.idle(),
		waiting: l.waiting, executing: l.executing, dispatched: l.dispatched, rejected: l.rejected,
		timedOut: l.timedOut, cancelled: l.cancelled, activeQueues: len(l.ready),
	}
	for _, name := range slices.Sorted(maps.Keys(l.stats)) {
		if s := l.stats[name]; s.used() {
			f.schemas = append(f.schemas, schemaFigures{name, s.clone()})
		}
	}
	return f
}

// WriteMetrics writes the series of all levels, and of schemas with requests, in the text
// exposition format. It takes level locks one after another, and never together with c.mu.
func (c *Controller) WriteMetrics(w io.Writer) {
	all := c.figures()
	c.mu.Lock()
	fraction := c.fraction
	c.mu.Unlock()
	writeLevels(w, all)
	gauge("seat_fair_frac", "Of what every level is expected to need, the part that it was given.", fraction).Write(w)
	writeSchemas(w, all)
}

func counter(name, help string, value any) metrics.Family {
	return metrics.CounterValue(prefix+name, help, value)
}

func gauge(name, help string, value any) metrics.Family {
	return metrics.GaugeValue(prefix+name, help, value)
}

func histogram(name, help string, value any) metrics.Family {
	return metrics.HistogramValue(prefix+name, help, value)
}

// writeLevels writes the families per level.
func writeLevels(w io.Writer, all []levelFigures) {
	level := func(f levelFigures) string { return fmt.Sprintf("priority_level=%q", f.name) }
	of := func(value func(levelFigures) any) metrics.Samples { return metrics.Each(all, level, value) }
	metrics.Write(w,
		gauge("nominal_limit_seats", "Seats that a priority level has by its shares.", of(func(f levelFigures) any { return f.nominal })),
		gauge("lower_limit_seats", "Seats that it keeps from lending.", of(func(f levelFigures) any { return f.lower })),
		gauge("upper_limit_seats", "Seats that it may have with what it borrows.", of(func(f levelFigures) any { return f.upper })),
		gauge("current_limit_seats", "Seats that it has now.", of(func(f levelFigures) any { return f.limit })),
		gauge("demand_seats_high_watermark", "Most seats that it could have used, in the last period of adjustment.", of(func(f levelFigures) any { return f.forecast.highWatermark })),
		gauge("demand_seats_average", "The mean of the seats that it could have used.", of(func(f levelFigures) any { return f.forecast.mean })),
		gauge("demand_seats_stdev", "The deviation from that mean.", of(func(f levelFigures) any { return f.forecast.deviation })),
		gauge("demand_seats_smoothed", "The seats that it is expected to need.", of(func(f levelFigures) any { return f.forecast.smoothed })),
		gauge("target_seats", "The seats that it was meant to get.", of(func(f levelFigures) any { return f.forecast.target })),
		gauge("current_r", "The virtual time R of the level.", of(func(f levelFigures) any { return f.virtual })),
		gauge("latest_s", "When the last request that was dispatched began, in virtual time.", of(func(f levelFigures) any { return f.lastDispatch })),
	)
}

// A sampler adds the series of one schema; more holds extra labels.
type sampler func(s *stats, add func(more string, value any))

// samples returns the series of every schema at every level, without empty histograms.
func samples(all []levelFigures, of sampler) metrics.Samples {
	out := metrics.Samples{}
	for _, f := range all {
		for _, s := range f.schemas {
			of(s.stats, func(more string, value any) {
				if h, ok := value.(*metrics.Histogram); !ok || h.Count() > 0 {
					out[fmt.Sprintf("flow_schema=%q,priority_level=%q", s.name, f.name)+more] = value
				}
			})
		}
	}
	return out
}

// writeSchemas writes the families per schema and level.
func writeSchemas(w io.Writer, all []levelFigures) {
	of := func(value func(*stats) any) metrics.Samples {
		return samples(all, func(s *stats, add func(string, any)) { add("", value(s)) })
	}
	metrics.Write(w,
		gauge("current_inqueue_requests", "Requests that wait in queues.", of(func(s *stats) any { return s.waiting })),
		gauge("current_inqueue_seats", "Seats that they wait for.", of(func(s *stats) any { return s.seatsWaiting })),
		gauge("current_executing_requests", "Requests that are served; of a watch only its beginning.", of(func(s *stats) any { return s.executing })),
		gauge("current_executing_seats", "Seats that are occupied.", of(func(s *stats) any { return s.seatsInUse })),
		counter("dispatched_requests_total", "Requests that were served.", of(func(s *stats) any { return s.dispatched })),
		counter("request_dispatch_no_accommodation_total", "Times when the next request needed more seats than were free.", of(func(s *stats) any { return s.noAccommodation })),
		counter("rejected_requests_total", "Requests that were refused, by the reason.", samples(all, func(s *stats, add func(string, any)) {
			for why, n := range s.rejected {
				add(fmt.Sprintf(",reason=%q", string(why)), n)
			}
		})),
		histogram("work_estimated_seats", "Seats that requests were expected to need.", of(func(s *stats) any { return s.seats })),
		histogram("request_queue_length_after_enqueue", "Length of a queue after a request was enqueued.", of(func(s *stats) any { return s.queueLength })),
		histogram("watch_count_samples", "Watches that a write concerns.", of(func(s *stats) any { return s.watches })),
		histogram("request_wait_duration_seconds", "Time that requests waited before they were executed or rejected.", samples(all, func(s *stats, add func(string, any)) {
			add(`,execute="false"`, s.waitedInVain)
			add(`,execute="true"`, s.waited)
		})),
		histogram("request_execution_seconds", "How long requests were served; watches only until they ran.", samples(all, func(s *stats, add func(string, any)) {
			add(`,type="regular"`, s.tookRegular)
			add(`,type="watch"`, s.tookWatch)
		})),
	)
}
