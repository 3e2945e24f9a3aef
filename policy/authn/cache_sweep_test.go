package authn

import (
	"testing"
	"time"
)

func TestCacheSweeps(t *testing.T) {
	clock := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewCache[int](100, func() time.Time { return clock })
	for i := range 20 {
		c.Put(DigestOf(string(rune('a'+i))), i, clock.Add(time.Second))
	}
	c.Put(DigestOf("lasting"), 1, clock.Add(time.Hour))
	clock = clock.Add(sweepPeriod)
	c.Put(DigestOf("next"), 2, clock.Add(time.Hour))
	if n := len(c.entries); n != 2 {
		t.Errorf("%d answers are kept, not 2", n)
	}
}
