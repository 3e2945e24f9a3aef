package flowcontrol

import "time"

// Work is the estimated cost of a request: seats while it runs and, for a widely watched write,
// seats for a while afterwards.
type Work struct {
	InitialSeats, FinalSeats int
	AdditionalLatency        time.Duration
}

// estimatedService is the estimated duration of a request.
const estimatedService = 3 * time.Millisecond

// total returns the work in seat-seconds.
func (w Work) total() float64 {
	return float64(w.InitialSeats)*estimatedService.Seconds() + float64(w.FinalSeats)*w.AdditionalLatency.Seconds()
}

// narrowed returns the same work with fewer final seats, occupied for longer.
func (w Work) narrowed(seats int) Work {
	if w.FinalSeats <= seats || seats < 1 {
		return w
	}
	w.AdditionalLatency = w.AdditionalLatency * time.Duration(w.FinalSeats) / time.Duration(seats)
	w.FinalSeats = seats
	return w
}

// Costs of a request.
const (
	maxSeats       = 10 // of any request; small levels have a lower maximum
	objectsPerSeat = 100
	watchesPerSeat = 10
	eventLatency   = 5 * time.Millisecond // time for which a write occupies a seat per watchesPerSeat
)

// A Listing describes the cost of a list, or of the initial events of a watch.
type Listing struct {
	Stored int // objects in scope
	Limit  int // of the request; 0 for none
	// Selects is set if a selector requires reading all objects.
	Selects bool
	// Historical is set if an older version must be reconstructed from the newest.
	Historical bool
}

// seats returns one seat per hundred objects read.
func (l Listing) seats() int {
	limited := l.Stored
	if l.Limit > 0 {
		limited = min(limited, l.Limit)
	}
	objects := limited
	if l.Selects {
		objects = l.Stored
	}
	if l.Historical {
		objects += limited
	}
	return (objects + objectsPerSeat - 1) / objectsPerSeat
}

func (l Listing) work(most int) Work { return Work{InitialSeats: max(1, min(l.seats(), most))} }

// writeWork returns the work of a write for a number of watches.
//
// Few watches are part of any write's cost. For many, delivery is spread over fewer seats for
// longer, since a request waits for all its seats and blocks others.
func writeWork(watches, most int) Work {
	w := Work{InitialSeats: 1}
	if watches < watchesPerSeat {
		return w
	}
	w.FinalSeats, w.AdditionalLatency = (watches+watchesPerSeat-1)/watchesPerSeat, eventLatency
	return w.narrowed(most)
}
