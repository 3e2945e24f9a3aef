package flowcontrol

import "container/heap"

// A queue holds waiting requests of a level. It exists while requests wait in it, or while requests
// dispatched from it occupy seats.
type queue struct {
	index       int
	first, last *Request // waiting, linked by next
	length      int
	waitingWork float64 // seat-seconds
	executing   int
	seats       int // occupied
	// nextDispatch is the virtual time at which the first request would start if all queues were
	// served equally.
	nextDispatch float64
	served       uint64 // value of the level's served counter at the last dispatch
	place        int    // index in the heap of queues with waiting requests, or -1
}

// active reports whether the queue gets a share of the seats. A write that has ended but still
// occupies its final seats does not make the queue active.
func (q *queue) active() bool { return q.length > 0 || q.executing > 0 }

func (q *queue) push(r *Request) {
	if q.last == nil {
		q.first = r
	} else {
		q.last.next, r.prev = r, q.last
	}
	q.last = r
	q.length++
	q.waitingWork += r.work.total()
}

func (q *queue) remove(r *Request) {
	if r.prev == nil {
		q.first = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		q.last = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.next, r.prev = nil, nil
	q.length--
	if q.waitingWork -= r.work.total(); q.length == 0 {
		q.waitingWork = 0 // discards accumulated rounding errors
	}
}

// bound raises nextDispatch to the arrival of the first request, so that the queue gains no
// advantage from its idle time.
func (q *queue) bound() {
	if q.first != nil {
		q.nextDispatch = max(q.nextDispatch, q.first.arrival)
	}
}

func (q *queue) finish() float64 { return q.nextDispatch + q.first.work.total() }

// A queueHeap has the next queue to serve at the top.
type queueHeap []*queue

var _ heap.Interface = (*queueHeap)(nil)

func (h queueHeap) Len() int { return len(h) }

// Less orders queues by finish time. In a tie, the queue served longest ago comes first.
func (h queueHeap) Less(i, j int) bool {
	if a, b := h[i].finish(), h[j].finish(); a != b {
		return a < b
	}
	return h[i].served < h[j].served
}

func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *queueHeap) Push(v any) {
	q := v.(*queue)
	q.place = len(*h)
	*h = append(*h, q)
}

func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	q := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	q.place = -1
	return q
}

// update restores the heap order after a change to the queue's clock or first request.
func (h *queueHeap) update(q *queue) {
	switch {
	case q.first == nil && q.place >= 0:
		heap.Remove(h, q.place)
	case q.first == nil:
	case q.place < 0:
		heap.Push(h, q)
	default:
		heap.Fix(h, q.place)
	}
}
