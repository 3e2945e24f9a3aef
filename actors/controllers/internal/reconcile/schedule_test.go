package reconcile

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestSchedule checks that each key that was not removed becomes due once, in the order of the
// latest times set.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s, start := NewSchedule[int](), time.Now()
	want := make([]int, 200)
	for i := range want {
		want[i] = i
	}
	for _, key := range rand.Perm(300) {
		s.Set(key, start.Add(time.Duration(rand.IntN(1000))*time.Second))
	}
	for _, key := range rand.Perm(300) {
		if key < len(want) {
			s.Set(key, start.Add(time.Duration(key)*time.Second))
		} else {
			s.Remove(key)
		}
	}
	s.Remove(1000)
	s.SetEarlier(150, start.Add(time.Hour)) // no effect: the key has an earlier time
	s.Set(42, start.Add(time.Hour))
	s.SetEarlier(42, start.Add(42*time.Second))
	got, next := s.take(start.Add(99 * time.Second))
	if len(got) != 100 || next != time.Second {
		t.Errorf("%d keys and %v until the next, want 100 and 1s", len(got), next)
	}
	rest, next := s.take(start.Add(time.Hour))
	if got = append(got, rest...); !slices.Equal(got, want) || next != maxSleep {
		t.Errorf("got %v and %v", got, next)
	}
}

func TestScheduleRun(t *testing.T) {
	t.Parallel()
	s, came := NewSchedule[string](), make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, func(key string) { came <- key })
	}()
	s.Set("late", time.Now().Add(time.Hour))
	s.Set("soon", time.Now().Add(time.Millisecond))
	if key := <-came; key != "soon" {
		t.Errorf("%s came first", key)
	}
	s.Set("late", time.Now())
	if key := <-came; key != "late" {
		t.Errorf("%s came", key)
	}
	cancel()
	<-ended
}
