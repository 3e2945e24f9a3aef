package runtime

import "testing"

func TestQueueKeepsOrderInBoundedSpace(t *testing.T) {
	var q queue[int]
	next := 0
	for i := range 10_000 { // the queue is never empty and never long
		q.push(i)
		if q.length() > 3 {
			if got := q.pop(); got != next {
				t.Fatalf("got %d, want %d", got, next)
			}
			next++
		}
	}
	if cap(q.items) > 64 {
		t.Errorf("a queue of %d took the space of %d", q.length(), cap(q.items))
	}
	for i, got := range q.drain() {
		if got != next+i {
			t.Errorf("drained %d, want %d", got, next+i)
		}
	}
	for i := range 2 * maxKeptCapacity {
		q.push(i)
	}
	for q.length() > 0 {
		q.pop()
	}
	if cap(q.items) > maxKeptCapacity {
		t.Errorf("an empty queue keeps the space of %d", cap(q.items))
	}
}
