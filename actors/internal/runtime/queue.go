package runtime

// queue is a FIFO queue that reuses its memory. It is not safe for concurrent use.
type queue[T any] struct {
	items []T
	head  int // items[:head] are taken
}

const maxKeptCapacity = 1024

func (q *queue[T]) length() int { return len(q.items) - q.head }

func (q *queue[T]) push(item T) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// pop removes the oldest item. The queue must not be empty.
func (q *queue[T]) pop() T {
	var none T
	item := q.items[q.head]
	q.items[q.head] = none
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > maxKeptCapacity {
			q.items = nil
		}
	}
	return item
}

func (q *queue[T]) drain() []T {
	rest := q.items[q.head:]
	*q = queue[T]{}
	return rest
}
