package client

import (
	"testing"
	"time"
)

// EventuallyTimeout is how long Eventually tries; a machine that is busy with other tests needs some of it.
const EventuallyTimeout = 30 * time.Second

// Eventually calls try until it answers nil. The pauses between the calls grow, so that waiting for seconds costs no CPU that
// the server needs. If it takes longer than EventuallyTimeout, the test fails with the last error.
func Eventually(t testing.TB, try func() error) {
	t.Helper()
	const longest = 30 * time.Millisecond
	pause := time.Millisecond
	for end := time.Now().Add(EventuallyTimeout); ; time.Sleep(pause) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %v: %v", EventuallyTimeout, err)
		}
		pause = min(longest, pause*5/4)
	}
}
