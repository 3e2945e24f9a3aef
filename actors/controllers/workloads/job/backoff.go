package job

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// Limits of the backoff after Pod failures. The delay doubles with each failure.
const (
	firstDelay = 10 * time.Second
	maxDelay   = 10 * time.Minute
)

// A backoff counts the failed Pods of a Job since the last success. It is kept in memory only, so
// the delay starts at firstDelay again after a restart. spec.backoffLimit is not affected, because
// it is checked against the counts in the status.
type backoff struct {
	failures int
	last     time.Time
}

// after returns b updated with more terminated Pods, which the status must not include yet.
// Failures up to the newest success do not count.
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

func byEnd(a, b *cluster.Pod) int { return cmp.Compare(a.EndedAt.UnixNano(), b.EndedAt.UnixNano()) }

// remaining returns how long to wait before creating a Pod. It limits the exponent, because the
// duration would overflow after many failures.
func (b backoff) remaining(now time.Time) time.Duration {
	if b.failures == 0 {
		return 0
	}
	delay := min(firstDelay<<min(b.failures-1, 10), maxDelay)
	return max(0, b.last.Add(delay).Sub(now))
}

// backoffs holds the backoff of each running Job by uid, for all workers. An entry is removed when
// its Job ends or is deleted.
type backoffs struct {
	mu  sync.Mutex
	all map[string]backoff
}

func (b *backoffs) get(uid string) backoff {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[uid]
}

func (b *backoffs) set(uid string, to backoff) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to == (backoff{}) {
		delete(b.all, uid)
	} else {
		b.all[uid] = to
	}
}
