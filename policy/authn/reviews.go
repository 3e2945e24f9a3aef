package authn

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
)

// Reviews caches the results of reviews, which are requests to a remote service. Concurrent calls
// with the same digest share one review. The number of concurrent reviews is limited.
type Reviews[T any] struct {
	cache    *Cache[T]
	inflight singleflight.Group
	slots    chan struct{}
	timeout  time.Duration
	now      func() time.Time
}

// NewReviews returns a Reviews that caches at most kept results and runs at most atOnce reviews
// concurrently. timeout limits the duration of a review, including the wait for other reviews.
func NewReviews[T any](kept, atOnce int, timeout time.Duration, now func() time.Time) *Reviews[T] {
	return &Reviews[T]{cache: NewCache[T](kept, now), slots: make(chan struct{}, atOnce), timeout: timeout, now: now}
}

// Of returns the cached result for a digest. On a miss, it calls review and caches the result for
// ttl. Errors are not cached.
func (r *Reviews[T]) Of(digest Digest, review func(ctx context.Context) (result T, ttl time.Duration, err error)) (result T, err error) {
	if known, ok := r.cache.Get(digest); ok {
		return known, nil
	}
	answer, err, _ := r.inflight.Do(string(digest[:]), func() (any, error) {
		if known, ok := r.cache.Get(digest); ok { // stored since the check above
			return known, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
		defer cancel()
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-ctx.Done():
			return nil, errors.New("too many reviews are pending")
		}
		made, ttl, err := review(ctx)
		if err == nil && ttl > 0 {
			r.cache.Put(digest, made, r.now().Add(ttl))
		}
		return made, err
	})
	if err != nil {
		return result, err
	}
	return answer.(T), nil
}
