package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// WebhookOptions configure the token webhook.
type WebhookOptions struct {
	// Ask sends a TokenReview as JSON and returns the response.
	Ask    func(ctx context.Context, review []byte) ([]byte, error)
	Naming *meta.Naming
	// Version is that of the TokenReview: v1 or v1beta1.
	Version string
	// TTL is how long a response is cached. Errors are cached for at most ten seconds.
	TTL time.Duration
	// Audiences are those of the server, for responses without audiences.
	Audiences []string
	Now       func() time.Time
}

// Limits of the remote's cost.
const (
	reviewTimeout        = 30 * time.Second // of one review including retries
	maxConcurrentReviews = 256              // more reviews wait, within reviewTimeout
	maxCachedReviews     = 16 << 10
	maxErrorTTL          = 10 * time.Second // for responses with an error
	minRecheckInterval   = time.Second      // minimum time between two reviews of one token
)

// Webhook authenticates bearer tokens with a TokenReview. Concurrent requests with the same token
// share one review. A missing response is an error that is not cached.
func Webhook(o WebhookOptions) Authenticator {
	return &webhook{
		WebhookOptions: o, apiVersion: o.Naming.Group("authentication") + "/" + o.Version,
		cache: NewCache[tokenResult](maxCachedReviews, o.Now), slots: make(chan struct{}, maxConcurrentReviews),
	}
}

type webhook struct {
	WebhookOptions
	apiVersion string
	cache      *Cache[tokenResult]
	inflight   singleflight.Group
	slots      chan struct{}
}

// A tokenResult is one of the three results of an Authenticator.
type tokenResult struct {
	user *User
	err  error
}

func (w *webhook) Authenticate(r Request) (*User, error) {
	if r.Token == "" {
		return nil, nil
	}
	wanted := r.Audiences
	if len(wanted) == 0 {
		wanted = w.Audiences
	}
	digest := DigestOf(r.Token, wanted...)
	if known, ok := w.cache.Get(digest); ok {
		return known.user, known.err
	}
	answer, err, _ := w.inflight.Do(string(digest[:]), func() (any, error) {
		if known, ok := w.cache.Get(digest); ok { // stored since the check above
			return known, nil
		}
		return w.review(digest, r.Token, wanted)
	})
	if err != nil {
		return nil, fmt.Errorf("token webhook: %w: %w", ErrUnavailable, err)
	}
	known := answer.(tokenResult)
	return known.user, known.err
}

// review calls the remote and caches the result.
func (w *webhook) review(digest Digest, token string, wanted []string) (tokenResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTimeout)
	defer cancel()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return tokenResult{}, errors.New("too many questions are waiting for their answers")
	}
	spec := tree.Tree{"token": token}
	if len(wanted) > 0 {
		spec["audiences"] = wanted
	}
	question, err := json.Marshal(tree.Tree{"apiVersion": w.apiVersion, "kind": "TokenReview", "spec": spec})
	if err != nil {
		return tokenResult{}, err
	}
	answer, err := w.Ask(ctx, question)
	if err != nil {
		return tokenResult{}, err
	}
	status, err := w.status(answer)
	if err != nil {
		return tokenResult{}, err
	}
	known, err := w.result(status, token, wanted)
	if err != nil {
		return tokenResult{}, err
	}
	ttl := w.TTL
	if known.err != nil {
		ttl = min(ttl, maxErrorTTL)
	}
	if known.user != nil {
		known.user.ValidUntil = w.Now().Add(max(ttl, minRecheckInterval))
	}
	if ttl > 0 {
		w.cache.Put(digest, known, w.Now().Add(ttl))
	}
	return known, nil
}

// status returns the status of a response, which must be of the request's version. Errors do not
// contain the response, because it may contain the token.
func (w *webhook) status(answer []byte) (tree.Tree, error) {
	var review tree.Tree
	if json.Unmarshal(answer, &review) != nil {
		return nil, errors.New("the answer is no JSON object")
	}
	if review.String("apiVersion") != w.apiVersion || review.String("kind") != "TokenReview" {
		return nil, fmt.Errorf("the answer is no TokenReview of %s", w.apiVersion)
	}
	return review.Object("status"), nil
}

func (w *webhook) result(status tree.Tree, token string, wanted []string) (tokenResult, error) {
	audiences := status.Strings("audiences")
	if len(audiences) == 0 {
		audiences = w.Audiences
	}
	both := IntersectAudiences(wanted, audiences)
	switch {
	case !status.Bool("authenticated"):
		if text := status.String("error"); text != "" {
			return tokenResult{err: rejection(text, token)}, nil
		}
		return tokenResult{}, nil
	case len(wanted) > 0 && len(both) == 0:
		return tokenResult{}, nil
	}
	user := ReadUser(status.Object("user"), "username")
	if user.Name == "" {
		return tokenResult{}, errors.New("the answer names no user")
	}
	user.Audiences = both
	return tokenResult{user: user}, nil
}
