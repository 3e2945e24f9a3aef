package client

import (
	"testing"
	"time"
)

// Watchdog limits how long a test waits for an event. It is long enough even for a busy machine.
const Watchdog = 5 * time.Minute

// Poll calls done until it returns true, or returns false after Watchdog. The pauses between calls
// grow, and last at least as long as a call, to leave CPU time for the server.
func Poll(done func() bool) bool {
	const longest = 30 * time.Millisecond
	pause := time.Millisecond
	for end := time.Now().Add(Watchdog); ; pause = min(longest, pause*5/4) {
		began := time.Now()
		if done() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		//lint:ignore walltime what is polled for has no event; the pause only saves CPU
		time.Sleep(max(pause, min(time.Since(began), time.Second)))
	}
}

// Eventually calls try until it returns nil. After Watchdog, it fails the test with the last error.
func Eventually(t testing.TB, try func() error) {
	t.Helper()
	var err error
	if !Poll(func() bool { err = try(); return err == nil }) {
		t.Fatalf("not within %v: %v", Watchdog, err)
	}
}

// Receive returns the next value from c, or the zero value if c is closed. It fails the test after
// Watchdog.
func Receive[T any](t testing.TB, c <-chan T, name string) (value T) {
	t.Helper()
	select {
	case value = <-c:
	case <-time.After(Watchdog):
		t.Fatalf("%s: not within %v", name, Watchdog)
	}
	return value
}

// NextSecond waits for the next second, because timestamps in objects have a resolution of one
// second.
func NextSecond() {
	now := time.Now().Unix()
	Poll(func() bool { return time.Now().Unix() != now })
}
