package flowcontrol

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// prefix begins the names of all series, as in the API server that clients know.
const prefix = "apiserver_flowcontrol_"

// A levelFigures is a copy of the figures of a level, made under its lock.
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

// schemaFigures are a copy of the figures of a schema at a level.
type schemaFigures struct {
	name string
	*stats
}

// figures are those of all levels, in the order of their names.
func (c *Controller) figures() []levelFigures {
	levels := c.current.Load().levels
	all := make([]levelFigures, 0, len(levels))
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, levels[name].figures())
	}
	return all
}

// figures copies the figures, so that they belong to one moment and are written without the lock. Schemas without
// requests are left out.
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

// WriteMetrics writes the series of all levels, and those of the schemas that have had requests, in the text
// exposition format. The locks of the levels are taken one after the other, and c.mu is never held together with one
// of them here.
func (c *Controller) WriteMetrics(w io.Writer) {
	all := c.figures()
	writeLevels(w, all)
	c.mu.Lock()
	fraction := c.fraction
	c.mu.Unlock()
	family(w, "seat_fair_frac", "gauge", "Of what every level is expected to need, the part that it was given.")
	metrics.WriteGaugeFloat64(w, prefix+"seat_fair_frac", fraction)
	writeSchemas(w, all)
	writeRejected(w, all)
	writeHistograms(w, all)
}

// family begins the series of one name.
func family(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix, name, kind)
}

// writeLevels writes what there is once for each level.
func writeLevels(w io.Writer, all []levelFigures) {
	for _, m := range []struct {
		name, help string
		value      func(*levelFigures) float64
	}{
		{"nominal_limit_seats", "Seats that a priority level has by its shares.", func(f *levelFigures) float64 { return float64(f.nominal) }},
		{"lower_limit_seats", "Seats that it keeps from lending.", func(f *levelFigures) float64 { return float64(f.lower) }},
		{"upper_limit_seats", "Seats that it may have with what it borrows.", func(f *levelFigures) float64 { return float64(f.upper) }},
		{"current_limit_seats", "Seats that it has now.", func(f *levelFigures) float64 { return float64(f.limit) }},
		{"demand_seats_high_watermark", "Most seats that it could have used, in the last period of adjustment.", func(f *levelFigures) float64 { return float64(f.forecast.highWatermark) }},
		{"demand_seats_average", "The mean of the seats that it could have used.", func(f *levelFigures) float64 { return f.forecast.mean }},
		{"demand_seats_stdev", "The deviation from that mean.", func(f *levelFigures) float64 { return f.forecast.deviation }},
		{"demand_seats_smoothed", "The seats that it is expected to need.", func(f *levelFigures) float64 { return f.forecast.smoothed }},
		{"target_seats", "The seats that it was meant to get.", func(f *levelFigures) float64 { return f.forecast.target }},
		{"current_r", "The virtual time R of the level.", func(f *levelFigures) float64 { return f.virtual }},
		{"latest_s", "When the last request that was dispatched began, in virtual time.", func(f *levelFigures) float64 { return f.lastDispatch }},
	} {
		family(w, m.name, "gauge", m.help)
		for i := range all {
			metrics.WriteGaugeFloat64(w, fmt.Sprintf("%s%s{priority_level=%q}", prefix, m.name, all[i].name), m.value(&all[i]))
		}
	}
}

// labels are those of a schema at a level.
func (f *levelFigures) labels(s *schemaFigures) string {
	return fmt.Sprintf("flow_schema=%q,priority_level=%q", s.name, f.name)
}

// each calls do for every schema at every level.
func each(all []levelFigures, do func(labels string, s *schemaFigures)) {
	for i := range all {
		for j := range all[i].schemas {
			do(all[i].labels(&all[i].schemas[j]), &all[i].schemas[j])
		}
	}
}

// writeSchemas writes what there is once for each schema at each level.
func writeSchemas(w io.Writer, all []levelFigures) {
	for _, m := range []struct {
		name, kind, help string
		value            func(*stats) float64
	}{
		{"current_inqueue_requests", "gauge", "Requests that wait in queues.", func(s *stats) float64 { return float64(s.waiting) }},
		{"current_inqueue_seats", "gauge", "Seats that they wait for.", func(s *stats) float64 { return float64(s.seatsWaiting) }},
		{"current_executing_requests", "gauge", "Requests that are served; of a watch only its beginning.", func(s *stats) float64 { return float64(s.executing) }},
		{"current_executing_seats", "gauge", "Seats that are occupied.", func(s *stats) float64 { return float64(s.seatsInUse) }},
		{"dispatched_requests_total", "counter", "Requests that were served.", func(s *stats) float64 { return float64(s.dispatched) }},
		{"request_dispatch_no_accommodation_total", "counter", "Times when the next request needed more seats than were free.", func(s *stats) float64 { return float64(s.noAccommodation) }},
	} {
		family(w, m.name, m.kind, m.help)
		each(all, func(labels string, s *schemaFigures) {
			metrics.WriteGaugeFloat64(w, prefix+m.name+"{"+labels+"}", m.value(s.stats))
		})
	}
}

// writeRejected writes the refusals, with a series for each reason that there was.
func writeRejected(w io.Writer, all []levelFigures) {
	const name = "rejected_requests_total"
	family(w, name, "counter", "Requests that were refused, by the reason.")
	each(all, func(labels string, s *schemaFigures) {
		for _, why := range slices.Sorted(maps.Keys(s.rejected)) {
			metrics.WriteCounterUint64(w, fmt.Sprintf("%s%s{%s,reason=%q}", prefix, name, labels, string(why)), s.rejected[why])
		}
	})
}

// A histogramOf finds one of the histograms of a schema.
type histogramOf func(*stats) *webhookclient.Histogram

// writeHistograms writes the histograms that have counted anything.
func writeHistograms(w io.Writer, all []levelFigures) {
	for _, m := range []struct {
		name, help string
		parts      map[string]histogramOf // by a further label
	}{
		{"work_estimated_seats", "Seats that requests were expected to need.", map[string]histogramOf{"": func(s *stats) *webhookclient.Histogram { return s.seats }}},
		{"request_queue_length_after_enqueue", "How long a queue was when a request had come into it.", map[string]histogramOf{"": func(s *stats) *webhookclient.Histogram { return s.queueLength }}},
		{"watch_count_samples", "How many watches were told of a write.", map[string]histogramOf{"": func(s *stats) *webhookclient.Histogram { return s.watches }}},
		{"request_wait_duration_seconds", "How long requests have waited, until they were served or refused.", map[string]histogramOf{
			`,execute="true"`: func(s *stats) *webhookclient.Histogram { return s.waited }, `,execute="false"`: func(s *stats) *webhookclient.Histogram { return s.waitedInVain }}},
		{"request_execution_seconds", "How long requests were served; watches only until they ran.", map[string]histogramOf{
			`,type="regular"`: func(s *stats) *webhookclient.Histogram { return s.tookRegular }, `,type="watch"`: func(s *stats) *webhookclient.Histogram { return s.tookWatch }}},
	} {
		family(w, m.name, "histogram", m.help)
		each(all, func(labels string, s *schemaFigures) {
			for _, part := range slices.Sorted(maps.Keys(m.parts)) {
				if h := m.parts[part](s.stats); h.Count() > 0 {
					h.Write(w, prefix+m.name, labels+part)
				}
			}
		})
	}
}
