package daemonset

import (
	"sync"
	"time"
)

// Limits of the backoff for failed Pods. The delay doubles with each replacement.
const (
	firstDelay  = time.Second
	maxDelay    = 15 * time.Minute
	maxFailures = 100_000 // remembered nodes
)

type failureKey struct{ set, node string }

// A failure records when a failed Pod was last replaced, and the delay until the next replacement.
type failure struct {
	delay time.Duration
	at    time.Time
}

// failures records recent replacements of failed Pods in memory. A full map is cleared, which
// resets all delays, as a restart does.
type failures struct {
	mu  sync.Mutex
	all map[failureKey]failure
}

// try returns how long to wait before replacing a failed Pod. If the result is 0, it records the
// replacement. The delay is reset after twice maxDelay without a replacement.
func (f *failures) try(key failureKey, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.all[key]
	if known {
		if wait := last.at.Add(last.delay).Sub(now); wait > 0 {
			return wait
		}
	}
	if !known && len(f.all) >= maxFailures {
		clear(f.all)
	}
	delay := firstDelay
	if known && now.Sub(last.at) < 2*maxDelay {
		delay = min(2*last.delay, maxDelay)
	}
	f.all[key] = failure{delay, now}
	return 0
}
