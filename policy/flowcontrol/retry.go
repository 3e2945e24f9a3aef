package flowcontrol

// maxRetryAfter is the longest that clients are asked to stay away, in seconds.
const maxRetryAfter = 32

// A backOff says when refused clients are to come again: later and later while many are refused, and sooner again once few
// are. It counts refusals by the second.
type backOff struct {
	after   int64 // seconds; 0 stands for 1
	raised  int64 // when it was last raised
	current int64 // the second that is counted
	seconds [2 * maxRetryAfter]struct {
		second int64
		count  int
	}
}

// refused counts a refusal in a second, and returns when to come again.
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

// adjust looks back as far as clients were asked to stay away. What comes again without having waited shows that this is
// not enough. Every raise gets the time to have an effect.
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
