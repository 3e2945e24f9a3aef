package authn

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
)

// Reviews caches the results of a remote. Identical concurrent reviews are one, and others wait
// for a slot, within timeout.
type Reviews[T any] struct {
	cache    *Cache[T]
	inflight singleflight.Group
	slots    chan struct{}
	timeout  time.Duration
	now      func() time.Time
}

// NewReviews returns Reviews that keep so many results and make so many reviews at once.
func NewReviews[T any](kept, atOnce int, timeout time.Duration, now func() time.Time) *Reviews[T] {
	return &Reviews[T]{cache: NewCache[T](kept, now), slots: make(chan struct{}, atOnce), timeout: timeout, now: now}
}

// Of returns the cached result for a digest, or that of review, which is kept for ttl. Errors are
// not kept.
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
