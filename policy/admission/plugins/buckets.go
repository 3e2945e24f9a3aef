package plugins

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// buckets holds token buckets by key. It evicts the least recently used bucket, so that clients
// cannot exhaust memory with new keys. An evicted bucket is full when it is created again. A random
// hash seed prevents clients from choosing keys that share another client's bucket.
type buckets struct {
	rate  rate.Limit // tokens per second
	burst int        // capacity of a bucket
	most  int        // maximum number of buckets
	seed  maphash.Seed

	mu    sync.Mutex               // guards the fields below, and the buckets
	byKey map[uint64]*list.Element // by key hash, because keys may be long
	used  *list.List               // of *bucket, most recently used first
}

type bucket struct {
	key    uint64
	tokens *rate.Limiter
}

func newBuckets(perSecond float64, burst, most int) *buckets {
	return &buckets{rate: rate.Limit(perSecond), burst: burst, most: most, seed: maphash.MakeSeed(), byKey: map[uint64]*list.Element{}, used: list.New()}
}

func (b *buckets) take(key string, now time.Time) bool {
	hash := maphash.String(b.seed, key)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bucket(hash).AllowN(now, 1)
}

// bucket returns the bucket for a key, creating it if necessary. The caller holds mu.
func (b *buckets) bucket(key uint64) *rate.Limiter {
	if e := b.byKey[key]; e != nil {
		b.used.MoveToFront(e)
		return e.Value.(*bucket).tokens
	}
	if b.used.Len() >= b.most {
		oldest := b.used.Back()
		delete(b.byKey, oldest.Value.(*bucket).key)
		b.used.Remove(oldest)
	}
	one := &bucket{key, rate.NewLimiter(b.rate, b.burst)}
	b.byKey[key] = b.used.PushFront(one)
	return one.tokens
}
