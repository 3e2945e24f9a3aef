package flowcontrol

import "time"

// Work is what a request is expected to occupy: seats while it is served and, for a write that many watch, seats for a
// while afterwards.
type Work struct {
	InitialSeats, FinalSeats int
	AdditionalLatency        time.Duration
}

// seats is how many are occupied, in both phases.
func (w Work) seats() int { return max(w.InitialSeats, w.FinalSeats) }

// estimatedService is how long a request is expected to take before it is known.
const estimatedService = 3 * time.Millisecond

// total is the work in seat-seconds.
func (w Work) total() float64 {
	return float64(w.InitialSeats)*estimatedService.Seconds() + float64(w.FinalSeats)*w.AdditionalLatency.Seconds()
}

// narrowed is the same work with fewer final seats, which are then occupied for longer.
func (w Work) narrowed(seats int) Work {
	if w.FinalSeats <= seats || seats < 1 {
		return w
	}
	w.AdditionalLatency = w.AdditionalLatency * time.Duration(w.FinalSeats) / time.Duration(seats)
	w.FinalSeats = seats
	return w
}

// What a request costs.
const (
	maxSeats       = 10 // of any request; small levels have a lower bound of their own
	objectsPerSeat = 100
	watchesPerSeat = 10
	eventLatency   = 5 * time.Millisecond // for which a write occupies a seat for each watchesPerSeat
)

// A Listing is what a list, or the initial events of a watch, has to look at.
type Listing struct {
	Stored int // objects in the namespace, or in all
	Limit  int // of the objects asked for; 0: none
	// Selects: labels or fields choose among the objects, so all are looked at.
	Selects bool
	// Historical: the list is of an older version, which is made of the newest first.
	Historical bool
}

// seats is one for each hundred objects that are looked at.
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

// work is that of the list at a level where one request may have so many seats.
func (l Listing) work(most int) Work { return Work{InitialSeats: max(1, min(l.seats(), most))} }

// writeWork is the work of a write that so many watch.
//
// Few watches are part of what any write costs. Of many, the work of telling them is spread over fewer seats than that
// would take at once, since a request waits for as many seats as it needs and nothing passes it.
func writeWork(watches, most int) Work {
	w := Work{InitialSeats: 1}
	if watches < watchesPerSeat {
		return w
	}
	w.FinalSeats, w.AdditionalLatency = (watches+watchesPerSeat-1)/watchesPerSeat, eventLatency
	return w.narrowed(most)
}
