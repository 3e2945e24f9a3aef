package plugins

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"
)

// buckets are token buckets by key, of which the least recently used are forgotten: they are full when they
// come back. The bound on their number bounds the memory that clients can cause by writing about ever new
// objects. That a forgotten bucket comes back full is the price. The seed is random, so that nobody can
// choose keys that share a bucket with another's.
type buckets struct {
	rate, burst float64 // tokens per second, and the most of a bucket
	most        int     // buckets
	seed        maphash.Seed

	mu    sync.Mutex               // guards what follows, and the buckets
	byKey map[uint64]*list.Element // by the hash of the key, which may be long
	used  *list.List               // of *bucket, the most recently used first
}

// A bucket has as many tokens as were there when they were last counted; what has come since is added by the next take.
type bucket struct {
	key    uint64
	tokens float64
	filled time.Time // when tokens were counted
}

// newBuckets makes buckets that are filled at a rate per second up to burst. most bounds how many are remembered.
func newBuckets(rate, burst float64, most int) *buckets {
	return &buckets{rate: rate, burst: burst, most: most, seed: maphash.MakeSeed(), byKey: map[uint64]*list.Element{}, used: list.New()}
}

// take takes a token from the bucket of a key, and tells whether there was one. A clock that goes back adds
// nothing. Time is counted when somebody asks, so no goroutine has to fill buckets.
func (b *buckets) take(key string, now time.Time) bool {
	hash := maphash.String(b.seed, key)
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.bucket(hash, now)
	if passed := now.Sub(one.filled).Seconds(); passed > 0 {
		one.tokens, one.filled = min(b.burst, one.tokens+passed*b.rate), now
	}
	if one.tokens < 1 {
		return false
	}
	one.tokens--
	return true
}

// bucket finds or makes the bucket of a key, for a caller who holds mu.
func (b *buckets) bucket(key uint64, now time.Time) *bucket {
	if e := b.byKey[key]; e != nil {
		b.used.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if b.used.Len() >= b.most {
		oldest := b.used.Back()
		delete(b.byKey, oldest.Value.(*bucket).key)
		b.used.Remove(oldest)
	}
	one := &bucket{key: key, tokens: b.burst, filled: now}
	b.byKey[key] = b.used.PushFront(one)
	return one
}
