package flowcontrol

import "time"

// Work is the estimated cost of a request. The request occupies InitialSeats while it runs. A write
// with many watchers then occupies FinalSeats for AdditionalLatency.
type Work struct {
	InitialSeats, FinalSeats int
	AdditionalLatency        time.Duration
}

const estimatedService = 3 * time.Millisecond

func (w Work) total() float64 {
	return float64(w.InitialSeats)*estimatedService.Seconds() + float64(w.FinalSeats)*w.AdditionalLatency.Seconds()
}

func (w Work) narrowed(seats int) Work {
	if w.FinalSeats <= seats || seats < 1 {
		return w
	}
	w.AdditionalLatency = w.AdditionalLatency * time.Duration(w.FinalSeats) / time.Duration(seats)
	w.FinalSeats = seats
	return w
}

const (
	maxSeats       = 10 // maximum per request; lower for small levels
	objectsPerSeat = 100
	watchesPerSeat = 10
	eventLatency   = 5 * time.Millisecond // time to deliver an event to watchesPerSeat watches
)

// A Listing describes the cost of a list, or of the initial events of a watch.
type Listing struct {
	Stored int // objects in scope
	Limit  int // limit of the request; 0 for none
	// Selects reports whether a selector requires reading all objects in scope.
	Selects bool
	// Historical reports whether an older version must be reconstructed from the newest one.
	Historical bool
}

// seats returns the number of seats for a list: one for every objectsPerSeat objects, rounded up.
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

// writeWork returns the work of a write. Its base cost covers a few watchers. For many watchers,
// the write occupies few seats for a long time, because waiting for many seats would block other
// requests.
func writeWork(watches, most int) Work {
	w := Work{InitialSeats: 1}
	if watches < watchesPerSeat {
		return w
	}
	w.FinalSeats, w.AdditionalLatency = (watches+watchesPerSeat-1)/watchesPerSeat, eventLatency
	return w.narrowed(most)
}
