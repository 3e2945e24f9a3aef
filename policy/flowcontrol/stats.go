package flowcontrol

import (
	"maps"

	"github.com/troupe-api/troupe/internal/metrics"
)

// stats holds the counters of one schema at one level. The level's lock guards it.
type stats struct {
	waiting, seatsWaiting, executing, seatsInUse int
	dispatched, noAccommodation                  uint64
	rejected                                     map[Reason]uint64
	seats, queueLength, watches                  *metrics.Histogram
	waited, waitedInVain                         *metrics.Histogram
	tookWatch, tookRegular                       *metrics.Histogram
}

// Histogram bucket bounds for seats, queue lengths, watches, and seconds.
var (
	seatBuckets     = []float64{1, 2, 4, 8, 16, 32, 64, 100}
	lengthBuckets   = []float64{0, 10, 25, 50, 100, 250, 500, 1000}
	watchBuckets    = []float64{0, 1, 10, 100, 1000, 10000}
	durationBuckets = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}
)

func newStats() *stats {
	h := metrics.NewHistogram
	return &stats{
		rejected: map[Reason]uint64{}, seats: h(seatBuckets), queueLength: h(lengthBuckets), watches: h(watchBuckets),
		waited: h(durationBuckets), waitedInVain: h(durationBuckets), tookWatch: h(durationBuckets), tookRegular: h(durationBuckets),
	}
}

func (s *stats) busy() bool { return s.waiting > 0 || s.executing > 0 || s.seatsInUse > 0 }

func (l *level) statsOf(name string) *stats {
	s := l.stats[name]
	if s == nil {
		s = newStats()
		l.stats[name] = s
	}
	return s
}

func (s *stats) used() bool { return s.seats.Count() > 0 }

// clone copies the counters but shares the histograms, which need no lock. The caller holds the
// level's lock.
func (s *stats) clone() *stats {
	c := *s
	c.rejected = maps.Clone(s.rejected)
	return &c
}
