package daemonset

import (
	"sync"
	"time"
)

// The delays between two replacements of failed Pods on one node: the first one, doubled each time.
const (
	firstDelay  = time.Second
	maxDelay    = 15 * time.Minute
	maxFailures = 100_000 // nodes that are remembered
)

// A failureKey is a DaemonSet, by uid, on a node.
type failureKey struct{ set, node string }

// delay is how long the next failed Pod on the node has to wait, counted from at, when the last one was replaced.
type failure struct {
	delay time.Duration
	at    time.Time
}

// failures are the Pods that were replaced lately because they had failed.
// They are in memory only: after a restart of this process all delays begin anew. Entries go only when the map is full,
// and then all together; that costs no more than some delays that begin anew.
type failures struct {
	mu  sync.Mutex
	all map[failureKey]failure
}

// try is how long a failed Pod still has to wait until it is replaced; 0 says that it may be now, which counts.
// The delay begins anew for a node on which no Pod was replaced for twice the longest delay, as the failure is then
// taken for another one.
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
