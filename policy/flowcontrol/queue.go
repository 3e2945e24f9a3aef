package flowcontrol

import "container/heap"

// A queue is one in use: requests wait in it, or occupy seats that they got by way of it.
type queue struct {
	index       int
	first, last *Request // that wait, linked by next
	length      int
	waitingWork float64 // seat-seconds
	executing   int
	seats       int // occupied
	// nextDispatch is the queue's own virtual time: when its first request would begin if all queues were served evenly.
	nextDispatch float64
	served       uint64 // the number of the last dispatch from it, at the level
	place        int    // in the heap of the queues in which somebody waits; -1: not there
}

// active tells whether the queue takes part in the division of seats. Seats that a write keeps after its end do not
// count.
func (q *queue) active() bool { return q.length > 0 || q.executing > 0 }

// push adds a request at the end.
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

// remove takes a request out, wherever in the queue it is.
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
		q.waitingWork = 0 // without the error of many additions
	}
}

// bound keeps the first request from beginning before it came, in virtual time: a queue that is never empty and never
// uses its part must not save it up.
func (q *queue) bound() {
	if q.first != nil {
		q.nextDispatch = max(q.nextDispatch, q.first.arrival)
	}
}

// finish is when the first request would end, in virtual time.
func (q *queue) finish() float64 { return q.nextDispatch + q.first.work.total() }

// queueHeap has the queue that is to be served next at the top.
type queueHeap []*queue

var _ heap.Interface = (*queueHeap)(nil)

func (h queueHeap) Len() int { return len(h) }

// Less implements heap.Interface: of queues with the same finish the one comes first that was served longest ago.
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

// Push implements heap.Interface.
func (h *queueHeap) Push(v any) {
	q := v.(*queue)
	q.place = len(*h)
	*h = append(*h, q)
}

// Pop implements heap.Interface.
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	q := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	q.place = -1
	return q
}

// update puts a queue where it belongs after a change of its clock or of its first request.
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
