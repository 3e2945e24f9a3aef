package flowcontrol

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/internal/metrics"
)

const prefix = "apiserver_flowcontrol_"

type levelFigures struct {
	levelState
	name         string
	idle         bool
	activeQueues int
	schemas      []schemaFigures
}

type schemaFigures struct {
	name string
	*stats
}

func (c *Controller) figures() []levelFigures {
	levels := c.current.Load().levels
	all := make([]levelFigures, 0, len(levels))
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, levels[name].figures())
	}
	return all
}

// figures returns a consistent snapshot of the counters. It omits schemas that had no requests.
func (l *level) figures() levelFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := levelFigures{levelState: l.levelState, name: l.spec.name, idle: l.idle(), activeQueues: len(l.ready)}
	for _, name := range slices.Sorted(maps.Keys(l.stats)) {
		if s := l.stats[name]; s.used() {
			f.schemas = append(f.schemas, schemaFigures{name, s.clone()})
		}
	}
	return f
}

// WriteMetrics writes the metrics of all levels, and of schemas with requests, in the text
// exposition format. It holds at most one lock at a time, either c.mu or that of a level.
func (c *Controller) WriteMetrics(w io.Writer) {
	all := c.figures()
	c.mu.Lock()
	fraction := c.fraction
	c.mu.Unlock()
	writeLevels(w, all)
	gauge("seat_fair_frac", "Fair fraction of the expected demand that was allocated to priority levels.", fraction).Write(w)
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

func writeLevels(w io.Writer, all []levelFigures) {
	level := func(f levelFigures) string { return fmt.Sprintf("priority_level=%q", f.name) }
	of := func(value func(levelFigures) any) metrics.Samples { return metrics.Each(all, level, value) }
	metrics.Write(w,
		gauge("nominal_limit_seats", "Nominal seats, according to the shares of the priority level.", of(func(f levelFigures) any { return f.nominal })),
		gauge("lower_limit_seats", "Minimum seats, which the priority level does not lend.", of(func(f levelFigures) any { return f.lower })),
		gauge("upper_limit_seats", "Maximum seats, including borrowed ones.", of(func(f levelFigures) any { return f.upper })),
		gauge("current_limit_seats", "Current seats.", of(func(f levelFigures) any { return f.limit })),
		gauge("demand_seats_high_watermark", "Maximum seat demand in the last adjustment period.", of(func(f levelFigures) any { return f.forecast.highWatermark })),
		gauge("demand_seats_average", "Average seat demand in the last adjustment period.", of(func(f levelFigures) any { return f.forecast.mean })),
		gauge("demand_seats_stdev", "Standard deviation of the seat demand in the last adjustment period.", of(func(f levelFigures) any { return f.forecast.deviation })),
		gauge("demand_seats_smoothed", "Smoothed seat demand.", of(func(f levelFigures) any { return f.forecast.smoothed })),
		gauge("target_seats", "Target seats of the last adjustment.", of(func(f levelFigures) any { return f.forecast.target })),
		gauge("current_r", "Virtual time R of the priority level.", of(func(f levelFigures) any { return f.virtual })),
		gauge("latest_s", "Virtual start time of the last dispatched request.", of(func(f levelFigures) any { return f.lastDispatch })),
	)
}

// A sampler calls add once for each time series of a schema. more is text with additional labels.
type sampler func(s *stats, add func(more string, value any))

// samples returns the series of each schema at each level. It omits empty histograms.
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

func writeSchemas(w io.Writer, all []levelFigures) {
	of := func(value func(*stats) any) metrics.Samples {
		return samples(all, func(s *stats, add func(string, any)) { add("", value(s)) })
	}
	metrics.Write(w,
		gauge("current_inqueue_requests", "Requests waiting in queues.", of(func(s *stats) any { return s.waiting })),
		gauge("current_inqueue_seats", "Seats requested by waiting requests.", of(func(s *stats) any { return s.seatsWaiting })),
		gauge("current_executing_requests", "Requests being executed; watches only while they are initialized.", of(func(s *stats) any { return s.executing })),
		gauge("current_executing_seats", "Occupied seats.", of(func(s *stats) any { return s.seatsInUse })),
		counter("dispatched_requests_total", "Requests dispatched.", of(func(s *stats) any { return s.dispatched })),
		counter("request_dispatch_no_accommodation_total", "Times that the next request needed more seats than were free.", of(func(s *stats) any { return s.noAccommodation })),
		counter("rejected_requests_total", "Requests rejected, by reason.", samples(all, func(s *stats, add func(string, any)) {
			for why, n := range s.rejected {
				add(fmt.Sprintf(",reason=%q", string(why)), n)
			}
		})),
		histogram("work_estimated_seats", "Estimated seats per request.", of(func(s *stats) any { return s.seats })),
		histogram("request_queue_length_after_enqueue", "Length of a queue after a request was enqueued.", of(func(s *stats) any { return s.queueLength })),
		histogram("watch_count_samples", "Watches affected by a write.", of(func(s *stats) any { return s.watches })),
		histogram("request_wait_duration_seconds", "Time that requests waited until they were executed or rejected.", samples(all, func(s *stats, add func(string, any)) {
			add(`,execute="false"`, s.waitedInVain)
			add(`,execute="true"`, s.waited)
		})),
		histogram("request_execution_seconds", "Execution time of requests; of watches, until they are initialized.", samples(all, func(s *stats, add func(string, any)) {
			add(`,type="regular"`, s.tookRegular)
			add(`,type="watch"`, s.tookWatch)
		})),
	)
}
