package actors

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestAppliedRevision checks that a version counts as applied only when every collection has
// published its part of that batch and of all earlier batches.
func TestAppliedRevision(t *testing.T) {
	var a appliedRevision
	one, two := a.begin(10, 2), a.begin(12, 1)
	expect := func(name string, want uint64) {
		t.Helper()
		if got := a.get(); got != want {
			t.Errorf("%s: applied up to %d, want %d", name, got, want)
		}
	}
	expect("nothing is published", 0)
	a.done(two)
	expect("the second batch is there before the first", 0)
	a.done(one)
	expect("one of two collections has published", 0)
	waited := make(chan error, 1)
	go func() { waited <- a.await(context.Background(), 12) }()
	a.done(one)
	expect("both have published", 12)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	a.begin(15, 0)
	expect("no collection has a part", 15)
	if current, err := a.awaitFor(context.Background(), 16, time.Millisecond); !errors.Is(err, errNotApplied) || current != 15 {
		t.Errorf("waiting for what never comes: %d, %v", current, err)
	}
}
