package daemonset

import (
	"sync"
	"time"
)

// Bounds of the delay between replacements of failed Pods on a node, which doubles each time.
const (
	firstDelay  = time.Second
	maxDelay    = 15 * time.Minute
	maxFailures = 100_000 // remembered nodes
)

// A failureKey is a node and the uid of a DaemonSet.
type failureKey struct{ set, node string }

// A failure is the last replacement of a failed Pod, and the delay until the next one.
type failure struct {
	delay time.Duration
	at    time.Time
}

// failures holds the recent replacements of failed Pods in memory; a restart resets all delays. The
// map is cleared when full, which also only resets delays.
type failures struct {
	mu  sync.Mutex
	all map[failureKey]failure
}

// try returns how long a failed Pod must wait for its replacement. 0 allows it, and records a
// replacement. The delay is reset after twice its maximum without replacements.
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
