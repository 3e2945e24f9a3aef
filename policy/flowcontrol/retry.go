package flowcontrol

// maxRetryAfter is the maximum Retry-After in seconds.
const maxRetryAfter = 32

// A backOff computes the Retry-After header from the number of rejections per second. Retry-After
// increases only while there are many rejections.
type backOff struct {
	after   int64 // seconds; 0 means 1
	raised  int64 // second of the last increase
	current int64 // second being counted
	seconds [2 * maxRetryAfter]struct {
		second int64
		count  int
	}
}

// refused counts a rejection in the given second and returns the Retry-After in seconds.
func (b *backOff) refused(second int64) int {
	b.after = max(b.after, 1)
	if second != b.current {
		b.adjust(second)
		b.current = second
	}
	s := &b.seconds[second%int64(len(b.seconds))]
	if s.second != second {
		s.second, s.count = second, 0
	}
	s.count++
	return int(b.after)
}

// adjust counts the rejections within the last Retry-After period. If there are many, clients retry
// too early, so adjust doubles the period, at most once per period. If there are few, it shortens
// the period by a second.
func (b *backOff) adjust(second int64) {
	refused := int64(0)
	for _, s := range b.seconds {
		if s.second < second && s.second >= second-b.after {
			refused += int64(s.count)
		}
	}
	switch {
	case second-b.raised >= b.after && refused >= 3*b.after:
		b.after, b.raised = min(2*b.after, maxRetryAfter), second
	case refused < b.after && b.after > 1:
		b.after--
	}
}
