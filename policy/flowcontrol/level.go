package flowcontrol

import (
	"sync"
	"time"
)

// A level serves the requests of its schemas, as many at a time as it has seats.
type level struct {
	clock *clock

	mu   sync.Mutex // guards what follows
	spec levelSpec
	// Seats: those of its shares, the bounds of what it may have by lending and borrowing, and those that it has now.
	nominal, lower, upper, limit int
	forecast                     forecast
	removed                      bool // it serves nobody any more: who has found it looks again
	undesired                    bool // it is configured no longer, and goes when it is idle

	queues map[int]*queue // those in use
	ready  queueHeap      // those in which somebody waits
	free   []*queue       // to be used again
	active int            // queues in which somebody waits or is served

	waiting, executing       int // requests
	seatsInUse, seatsWaiting int
	running                  *Request // those that are served, linked by next and prev
	virtual                  float64  // time R
	virtualAt                int64    // when it was last advanced
	enqueued, served         uint64   // how many requests were given a queue, and were dispatched
	demand                   demand
	stats                    map[string]*stats // by the schema's name
	dispatched, rejected     uint64
	timedOut, cancelled      uint64
	lastDispatch             float64 // in virtual time, for metrics
	backOff                  backOff
}

// clock counts nanoseconds, which only ever rise.
type clock struct{ start time.Time }

func (c *clock) now() int64 { return int64(time.Since(c.start)) }

// newLevel makes a level without seats, which setBounds gives it before anybody finds it.
func newLevel(spec levelSpec, c *clock) *level {
	now := c.now()
	return &level{clock: c, spec: spec, queues: map[int]*queue{}, stats: map[string]*stats{}, virtualAt: now, demand: demand{since: now, last: now}}
}

// maxFree bounds the queues that are kept to be used again.
const maxFree = 64

// admission is what becomes of a request at first.
type admission uint8

const (
	admitted admission = iota
	queued
	refused
	gone // the level was removed: the request is to be classified again
)

// start lets a request in, or into a queue, or refuses it. flow is the hash of its flow.
func (l *level) start(r *Request, flow uint64) (admission, *RejectedError) {
	now := l.clock.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.removed {
		return gone, nil
	}
	l.advance(now)
	r.level, r.levelUID, r.came, r.arrival = l, l.spec.uid, now, l.virtual
	seats := r.seats
	r.schema.stats.seats.Observe(float64(seats))
	if r.watches >= 0 {
		r.schema.stats.watches.Observe(float64(r.watches))
	}
	if l.spec.queues == 0 {
		if !l.fits(seats) {
			return refused, l.refuse(r, ConcurrencyLimit, now)
		}
		l.execute(r, now)
		return admitted, nil
	}
	q := l.choose(flow)
	switch {
	// Nobody is passed over, so the request need not enter a queue that it would leave at once.
	case l.waiting == 0 && l.seatsInUse < l.limit && l.fits(seats):
		r.queue = q
		l.activate(q)
		l.execute(r, now)
		return admitted, nil
	// The length is bounded once every seat is taken: while some are free, dispatch may take one out at once.
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

// advance brings the virtual time up to now: all that the level can use is divided among the active queues.
func (l *level) advance(now int64) {
	if l.active > 0 {
		rate := float64(min(l.seatsInUse+l.seatsWaiting, l.limit)) / float64(l.active)
		l.virtual += rate * float64(now-l.virtualAt) / 1e9
	}
	l.virtualAt = now
}

// choose is the queue of a flow's hand with the least work waiting; from one request to the next the hand is looked at
// from another queue on, so that flows whose hands overlap do not prefer the same ones.
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
			return l.queue(index) // nobody waits in it
		}
		if best < 0 || q.waitingWork < least {
			best, least = index, q.waitingWork
		}
	}
	return l.queues[best]
}

// queue is a queue, which is made if it is not in use.
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

// release forgets a queue that is not in use any longer. Its clock would begin anew anyway.
func (l *level) release(q *queue) {
	if q.active() || q.seats > 0 {
		return
	}
	delete(l.queues, q.index)
	if len(l.free) < maxFree {
		l.free = append(l.free, q)
	}
}

// activate sets the clock of a queue that was not active. It is called before the queue becomes so.
func (l *level) activate(q *queue) {
	if !q.active() {
		q.nextDispatch = l.virtual
		l.active++
	}
}

// deactivate notes that a queue may have been left. It is called afterwards.
func (l *level) deactivate(q *queue) {
	if q.active() {
		return
	}
	l.active--
	l.release(q)
}

// fits tells whether so many seats are free. What needs more than there are is served alone.
func (l *level) fits(seats int) bool {
	switch {
	case l.spec.exempt:
		return true
	case seats > l.limit:
		return l.executing == 0
	}
	return l.seatsInUse+seats <= l.limit
}

// enqueue puts a request at the end of a queue, with all the counts that go with it. l.mu is held, as in all that
// follow which take no lock.
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

// dequeue takes a request out of its queue.
func (l *level) dequeue(r *Request) {
	r.queue.remove(r)
	r.queue.bound()
	l.waiting--
	l.seatsWaiting -= r.seats
	s := r.schema.stats
	s.waiting--
	s.seatsWaiting -= r.seats
}

// dispatch lets in as many as there are seats for. The one whose turn it is may need more than are free: then the others
// wait as well, or a large one would never be served.
func (l *level) dispatch(now int64) {
	for l.waiting > 0 && l.seatsInUse < l.limit {
		q := l.ready[0]
		r := q.first
		if !l.fits(r.seats) {
			r.schema.stats.noAccommodation++
			return
		}
		l.dequeue(r)
		r.setWork(r.work.narrowed(l.limit))
		l.execute(r, now)
		q.bound()
		l.ready.update(q)
		r.admitted <- struct{}{}
	}
}

// execute gives a request its seats.
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

// refuse counts a request that is not served.
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

// eject takes out a request that is not to wait any longer; nil if it was let in just then.
func (l *level) eject(r *Request, why Reason) error {
	now := l.clock.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	// dispatch came first and has sent under the same lock, so this does not block.
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

// finish ends a request. false: it had ended before.
func (l *level) finish(r *Request) bool {
	now := l.clock.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.state != executing {
		return false
	}
	l.advance(now)
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
	if r.attributes.Verb == "watch" { // only its beginning
		took = s.tookWatch
	}
	took.Observe(float64(now-r.began) / 1e9)
	if q := r.queue; q != nil {
		// The clock has moved by what was expected, and is set right by what it was.
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

// releaseLater gives the seats of a write back when the watches that it concerns have had the time to
// deliver it.
func (l *level) releaseLater(r *Request) {
	seats, q, s := r.seats, r.queue, r.schema.stats
	time.AfterFunc(r.work.AdditionalLatency, func() {
		now := l.clock.now()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.advance(now)
		l.freeSeats(seats, q, s, now)
		l.dispatch(now)
	})
}

// freeSeats takes seats off all counts of them. It may be called some time after the request itself has ended and is
// used for another one, so it is given what it needs instead of the request.
func (l *level) freeSeats(seats int, q *queue, s *stats, now int64) {
	l.seatsInUse -= seats
	s.seatsInUse -= seats
	if q != nil {
		q.seats -= seats
		l.release(q)
	}
	l.demand.set(now, l.seatsInUse+l.seatsWaiting)
}

// setLimit changes how many seats the level has. Those that are occupied beyond it are given back when their requests end.
func (l *level) setLimit(limit int, now int64) {
	l.advance(now)
	l.limit = limit
	l.dispatch(now)
}

// idle tells that nobody is served or waits.
func (l *level) idle() bool { return l.waiting == 0 && l.executing == 0 && l.seatsInUse == 0 }
