package job

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// The delays after failures of Pods: the first one, doubled with each further failure.
const (
	firstDelay = 10 * time.Second
	maxDelay   = 10 * time.Minute
)

// A backoff is how often Pods of a Job have failed since one has last succeeded, and when one last did.
// The zero value means that no Pod has failed since the last success. The count is kept in memory only, so that a
// restart of this process forgets it: the delay then begins at firstDelay again, while the limit on failures is not
// affected, because that is computed from the status.
type backoff struct {
	failures int
	last     time.Time
}

// after is the backoff when further Pods have ended.
// Failures that ended no later than the newest of the successes do not count: the success came after them. The caller
// passes the Pods that the status does not list yet.
func (b backoff) after(succeeded, failed []*cluster.Pod) backoff {
	if len(succeeded) > 0 {
		success := slices.MaxFunc(succeeded, byEnd).EndedAt
		b = backoff{}
		failed = slices.DeleteFunc(slices.Clone(failed), func(p *cluster.Pod) bool { return !p.EndedAt.After(success) })
	}
	if len(failed) > 0 {
		b.failures += len(failed)
		b.last = slices.MaxFunc(failed, byEnd).EndedAt
	}
	return b
}

// byEnd orders Pods by the time at which they ended, the earliest first.
func byEnd(a, b *cluster.Pod) int { return cmp.Compare(a.EndedAt.UnixNano(), b.EndedAt.UnixNano()) }

// remaining is how long no new Pod is made.
// The shift is bounded before it is applied, because a Job with many failures would otherwise overflow the duration and
// get no delay at all.
func (b backoff) remaining(now time.Time) time.Duration {
	if b.failures == 0 {
		return 0
	}
	delay := min(firstDelay<<min(b.failures-1, 10), maxDelay)
	return max(0, b.last.Add(delay).Sub(now))
}

// backoffs holds that of each Job that has not ended, by uid.
// Several workers take turns of different Jobs at the same time, hence the lock. Entries are removed when a Job ends or
// is deleted, so the map does not grow with the number of Jobs that there have ever been.
type backoffs struct {
	mu  sync.Mutex
	all map[string]backoff
}

// get is the backoff of a Job; the zero value if none of its Pods has failed.
func (b *backoffs) get(uid string) backoff {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[uid]
}

// set keeps the backoff of a Job. Setting the zero value forgets the Job, which is how entries are removed.
func (b *backoffs) set(uid string, to backoff) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to == (backoff{}) {
		delete(b.all, uid)
	} else {
		b.all[uid] = to
	}
}
