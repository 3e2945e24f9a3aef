package limits

import (
	"strings"
	"testing"
)

type fakeItem struct {
	name  string
	idle  bool
	ended *[]string
	owner *Principal
}

func (i fakeItem) Idle() bool { return i.idle }

func (i fakeItem) Reclaim() {
	*i.ended = append(*i.ended, i.name)
	i.owner.Release(Watches, 1)
}

// TestReclaim tests the order in which items are reclaimed: idle items first, then those of the
// largest holder, then the oldest. Withdrawn items and items of principals that hold no more than
// the requester are not reclaimed.
func TestReclaim(t *testing.T) {
	for _, test := range []struct {
		held  string // a letter per user, upper case if idle, and the item's number
		comes string // user that acquires one more
		want  string // ended item; "" if the user is rejected
	}{
		{"a0 a1 a2 b3 b4 c5", "d", "a0"},
		{"a0 a1 A2 b3 b4 c5", "d", "A2"},
		{"a0 a1 a2 b3 B4 c5", "d", "B4"},
		{"a0 a1 a2 b3 b4 C5", "d", "a0"},
		{"a0 a1 a2 b3 b4 c5", "c", "a0"},
		{"a0 a1 a2 b3 b4 c5", "a", ""},
		{"a0 b1 c2 d3 e4 f5", "g", ""},
		{"w0 w1 w2 b3 b4 c5", "d", "b3"},
	} {
		l := NewLedger(Capacities{Watches: 6})
		var ended []string
		for name := range strings.FieldsSeq(test.held) {
			p := l.ForUser(strings.ToLower(name[:1]))
			p.Acquire(Watches, 1)
			if withdraw := p.Offer(Watches, fakeItem{name, name[0] < 'a', &ended, p}); p.User == "w" {
				withdraw()
			}
		}
		rejection := l.ForUser(test.comes).TryAcquire(Watches, 1, 1, false)
		if got := strings.Join(ended, " "); got != test.want || (rejection == nil) != (got != "") || l.Used(Watches) != 6 {
			t.Errorf("%s of %s: %q ended, want %q; %v, %d are held", test.comes, test.held, got, test.want, rejection, l.Used(Watches))
		}
	}
}
