package plugins

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// buckets are token buckets by key, of which the least recently used are forgotten: they are full when they
// come back. The bound on their number bounds the memory that clients can cause by writing about ever new
// objects. That a forgotten bucket comes back full is the price. The seed is random, so that nobody can
// choose keys that share a bucket with another's.
type buckets struct {
	rate  rate.Limit // tokens per second
	burst int        // most tokens of a bucket
	most  int        // buckets
	seed  maphash.Seed

	mu    sync.Mutex               // guards what follows, and the buckets
	byKey map[uint64]*list.Element // by the hash of the key, which may be long
	used  *list.List               // of *bucket, the most recently used first
}

type bucket struct {
	key    uint64
	tokens *rate.Limiter
}

// newBuckets makes buckets that are filled at a rate per second up to burst. most bounds how many are remembered.
func newBuckets(perSecond float64, burst, most int) *buckets {
	return &buckets{rate: rate.Limit(perSecond), burst: burst, most: most, seed: maphash.MakeSeed(), byKey: map[uint64]*list.Element{}, used: list.New()}
}

// take takes a token from the bucket of a key, and reports whether there was one.
func (b *buckets) take(key string, now time.Time) bool {
	hash := maphash.String(b.seed, key)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bucket(hash).AllowN(now, 1)
}

// bucket finds or makes the bucket of a key, for a caller who holds mu.
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
