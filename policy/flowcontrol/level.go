package flowcontrol

import (
	"sync"
	"time"
)

// A level runs the requests of its schemas, limited by its seats.
type level struct {
	epoch time.Time // times are nanoseconds since then

	mu   sync.Mutex // guards the fields below
	spec levelSpec
	levelState
	removed bool // drained; requests that found it are classified again

	queues map[int]*queue // queues in use, by index
	ready  queueHeap      // queues with waiting requests
	free   []*queue       // unused queues, kept for reuse
	active int            // number of queues with waiting or executing requests

	seatsInUse, seatsWaiting int
	running                  *Request // executing requests, linked by next and prev
	virtualAt                int64    // time of the last advance of virtual time
	enqueued, served         uint64   // counts of enqueued and dispatched requests
	demand                   demand
	stats                    map[string]*stats // by schema name
	backOff                  backOff
}

// A levelState is the part of a level that metrics and dumps show.
type levelState struct {
	// Seat counts: the nominal limit, the lending and borrowing bounds, and the current limit.
	nominal, lower, upper, limit int
	forecast                     forecast
	undesired                    bool    // no longer configured; removed when idle
	waiting, executing           int     // numbers of requests
	virtual, lastDispatch        float64 // virtual time R, and the newest start time in it
	dispatched, rejected         uint64
	timedOut, cancelled          uint64
}

func newLevel(spec levelSpec, epoch time.Time) *level {
	now := int64(time.Since(epoch))
	return &level{epoch: epoch, spec: spec, queues: map[int]*queue{}, stats: map[string]*stats{}, virtualAt: now, demand: demand{since: now, last: now}}
}

// maxFree limits the number of queues kept for reuse.
const maxFree = 64

type admission uint8

const (
	admitted admission = iota
	queued
	refused
	gone // the level was removed; classify the request again
)

// start admits, enqueues or rejects a request. flow is the hash of the request's flow.
func (l *level) start(r *Request, flow uint64) (admission, *RejectedError) {
	now := int64(time.Since(l.epoch))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.removed {
		return gone, nil
	}
	r.level, r.SchemaUID, r.LevelUID, r.came = l, r.schema.uid, l.spec.uid, now
	seats := max(r.work.InitialSeats, r.work.FinalSeats)
	r.seats = seats
	r.schema.stats.seats.Observe(float64(seats))
	if r.watches >= 0 {
		r.schema.stats.watches.Observe(float64(r.watches))
	}
	if l.spec.queues == 0 {
		if !l.spec.exempt && !l.fits(seats) {
			return refused, l.refuse(r, ConcurrencyLimit, now)
		}
		l.execute(r, now)
		return admitted, nil
	}
	l.advance(now)
	r.arrival = l.virtual
	q := l.choose(flow)
	switch {
	// If no other request waits, the request can skip the queue.
	case l.waiting == 0 && l.seatsInUse < l.limit && l.fits(seats):
		r.queue = q
		l.activate(q)
		l.execute(r, now)
		return admitted, nil
	// If all seats are occupied, a full queue rejects the request. Otherwise the request is queued
	// anyway, because dispatch may immediately dequeue a request.
	case l.seatsInUse >= l.limit && q.length >= l.spec.queueLength:
		l.release(q)
		return refused, l.refuse(r, QueueFull, now)
	}
	l.enqueue(r, q, now)
	l.dispatch(now)
	if r.state == executing {
		<-r.admitted
		return admitted, nil
	}
	return queued, nil
}

// advance moves virtual time to now. Its rate is the number of occupied or requested seats, up to
// the limit, divided by the number of active queues.
func (l *level) advance(now int64) {
	if l.active > 0 {
		rate := float64(min(l.seatsInUse+l.seatsWaiting, l.limit)) / float64(l.active)
		l.virtual += rate * float64(now-l.virtualAt) / 1e9
	}
	l.virtualAt = now
}

// choose returns the queue with the least waiting work among the queues of a flow. It starts at a
// rotating offset, so that flows with common queues do not all prefer the same one.
func (l *level) choose(flow uint64) *queue {
	var place [maxHand]int
	hand := deal(flow, l.spec.queues, l.spec.handSize, &place)
	offset := int(l.enqueued % uint64(len(hand)))
	l.enqueued++
	if l.waiting == 0 {
		return l.queue(hand[offset])
	}
	best, least := -1, 0.0
	for i := range hand {
		index := hand[(offset+i)%len(hand)]
		q := l.queues[index]
		if q == nil {
			return l.queue(index) // an unused queue is empty
		}
		if best < 0 || q.waitingWork < least {
			best, least = index, q.waitingWork
		}
	}
	return l.queues[best]
}

// queue returns the queue at index, creating it if it is not in use.
func (l *level) queue(index int) *queue {
	q := l.queues[index]
	if q != nil {
		return q
	}
	if n := len(l.free); n > 0 {
		q, l.free = l.free[n-1], l.free[:n-1]
	} else {
		q = new(queue)
	}
	*q = queue{index: index, place: -1}
	l.queues[index] = q
	return q
}

func (l *level) release(q *queue) {
	if q.active() || q.seats > 0 {
		return
	}
	delete(l.queues, q.index)
	if len(l.free) < maxFree {
		l.free = append(l.free, q)
	}
}

// activate starts the clock of an inactive queue. The caller must then add a request to the queue.
func (l *level) activate(q *queue) {
	if !q.active() {
		q.nextDispatch = l.virtual
		l.active++
	}
}

func (l *level) deactivate(q *queue) {
	if q.active() {
		return
	}
	l.active--
	l.release(q)
}

func (l *level) fits(seats int) bool {
	if seats > l.limit {
		return l.executing == 0
	}
	return l.seatsInUse+seats <= l.limit
}

// enqueue appends a request to a queue and updates all counters. The caller holds l.mu, as for all
// methods below that do not lock it.
func (l *level) enqueue(r *Request, q *queue, now int64) {
	l.activate(q)
	r.queue, r.state = q, waiting
	if r.admitted == nil {
		r.admitted = make(chan struct{}, 1)
	}
	q.push(r)
	q.bound()
	l.ready.update(q)
	l.waiting++
	l.seatsWaiting += r.seats
	s := r.schema.stats
	s.waiting++
	s.seatsWaiting += r.seats
	s.queueLength.Observe(float64(q.length))
	l.demand.set(now, l.seatsInUse+l.seatsWaiting)
}

func (l *level) dequeue(r *Request) {
	r.queue.remove(r)
	r.queue.bound()
	l.waiting--
	l.seatsWaiting -= r.seats
	s := r.schema.stats
	s.waiting--
	s.seatsWaiting -= r.seats
}

// dispatch runs waiting requests while seats are free. It stops at a request that does not fit.
// Otherwise smaller requests would overtake large ones, which would starve.
func (l *level) dispatch(now int64) {
	for l.waiting > 0 && l.seatsInUse < l.limit {
		q := l.ready[0]
		r := q.first
		if !l.fits(r.seats) {
			r.schema.stats.noAccommodation++
			return
		}
		l.dequeue(r)
		r.work = r.work.narrowed(l.limit)
		r.seats = max(r.work.InitialSeats, r.work.FinalSeats)
		l.execute(r, now)
		q.bound()
		l.ready.update(q)
		r.admitted <- struct{}{}
	}
}

func (l *level) execute(r *Request, now int64) {
	seats := r.seats
	r.state, r.began = executing, now
	l.executing++
	l.seatsInUse += seats
	if r.next = l.running; r.next != nil {
		r.next.prev = r
	}
	l.running = r
	if q := r.queue; q != nil {
		l.served++
		q.served = l.served
		q.executing++
		q.seats += seats
		l.lastDispatch = q.nextDispatch
		q.nextDispatch += r.work.total()
	}
	l.dispatched++
	s := r.schema.stats
	s.dispatched++
	s.executing++
	s.seatsInUse += seats
	if !l.spec.exempt {
		s.waited.ObserveDuration(time.Duration(now - r.came))
	}
	l.demand.set(now, l.seatsInUse+l.seatsWaiting)
}

func (l *level) refuse(r *Request, why Reason, now int64) *RejectedError {
	r.state = over
	l.rejected++
	s := r.schema.stats
	s.rejected[why]++
	if why == TimeOut || why == Cancelled {
		s.waitedInVain.ObserveDuration(time.Duration(now - r.came))
	}
	return &RejectedError{
		Reason: why, RetryAfter: l.backOff.refused(now / 1e9), FlowSchemaUID: r.schema.uid, PriorityLevelUID: l.spec.uid,
	}
}

// eject removes a waiting request and returns its error. It returns nil if the request has already
// been admitted.
func (l *level) eject(r *Request, why Reason) error {
	now := int64(time.Since(l.epoch))
	l.mu.Lock()
	defer l.mu.Unlock()
	// This does not block, because dispatch has sent to the channel under the same lock.
	if r.state != waiting {
		<-r.admitted
		return nil
	}
	l.advance(now)
	q := r.queue
	l.dequeue(r)
	l.ready.update(q)
	l.deactivate(q)
	l.demand.set(now, l.seatsInUse+l.seatsWaiting)
	if why == TimeOut {
		l.timedOut++
	} else {
		l.cancelled++
	}
	refusal := l.refuse(r, why, now)
	l.dispatch(now) // the next one may need fewer seats
	return refusal
}

// finish ends a request. It returns false if the request has already ended.
func (l *level) finish(r *Request) bool {
	now := int64(time.Since(l.epoch))
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != executing {
		return false
	}
	if l.spec.queues > 0 {
		l.advance(now)
	}
	r.state = over
	l.executing--
	if r.prev == nil {
		l.running = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	s := r.schema.stats
	s.executing--
	took := s.tookRegular
	if r.attributes.Verb == "watch" { // until the watch has started
		took = s.tookWatch
	}
	took.Observe(float64(now-r.began) / 1e9)
	if q := r.queue; q != nil {
		// Adjust the queue's clock, which has advanced by the estimated work, to the actual work.
		q.nextDispatch -= float64(r.work.InitialSeats) * (estimatedService.Seconds() - float64(now-r.began)/1e9)
		q.bound()
		l.ready.update(q)
		if q.executing--; !q.active() {
			l.active--
		}
	}
	if r.work.AdditionalLatency > 0 {
		l.releaseLater(r)
	} else {
		l.freeSeats(r.seats, r.queue, s, now)
	}
	if l.waiting > 0 {
		l.dispatch(now)
	}
	return true
}

// releaseLater frees the seats of a write after the estimated time of delivery to all watches.
func (l *level) releaseLater(r *Request) {
	seats, q, s := r.seats, r.queue, r.schema.stats
	time.AfterFunc(r.work.AdditionalLatency, func() {
		now := int64(time.Since(l.epoch))
		l.mu.Lock()
		defer l.mu.Unlock()
		l.advance(now)
		l.freeSeats(seats, q, s, now)
		l.dispatch(now)
	})
}

func (l *level) freeSeats(seats int, q *queue, s *stats, now int64) {
	l.seatsInUse -= seats
	s.seatsInUse -= seats
	if q != nil {
		q.seats -= seats
		l.release(q)
	}
	l.demand.set(now, l.seatsInUse+l.seatsWaiting)
}

// setLimit changes the current limit. If the new limit is below the occupied seats, the excess
// seats are freed only when their requests end.
func (l *level) setLimit(limit int, now int64) {
	l.advance(now)
	l.limit = limit
	l.dispatch(now)
}

func (l *level) idle() bool { return l.waiting == 0 && l.executing == 0 && l.seatsInUse == 0 }
