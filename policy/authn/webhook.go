package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// WebhookOptions configures the token webhook.
type WebhookOptions struct {
	// Ask sends an encoded TokenReview and returns the response.
	Ask    func(ctx context.Context, review []byte) ([]byte, error)
	Naming *meta.Naming
	// Version is the API version of the TokenReview: v1 or v1beta1.
	Version string
	// TTL is the cache duration of a response. A response with an error is cached for at most
	// maxErrorTTL.
	TTL time.Duration
	// Audiences lists the audiences of this server. A response without audiences is accepted for
	// this server.
	Audiences []string
	Now       func() time.Time
}

// Limits that protect the remote service.
const (
	reviewTimeout        = 30 * time.Second // limits one review including retries
	maxConcurrentReviews = 256              // more reviews wait, within reviewTimeout
	maxCachedReviews     = 16 << 10
	maxErrorTTL          = 10 * time.Second // cache duration of responses with an error
	minRecheckInterval   = time.Second      // minimum time between two reviews of one token
)

// Webhook authenticates bearer tokens with TokenReviews. Concurrent requests with the same token
// share one review. Failed calls return an error and are not cached.
func Webhook(o WebhookOptions) Authenticator {
	return &webhook{
		WebhookOptions: o, apiVersion: o.Naming.Group("authentication") + "/" + o.Version,
		reviews: NewReviews[tokenResult](maxCachedReviews, maxConcurrentReviews, reviewTimeout, o.Now),
	}
}

type webhook struct {
	WebhookOptions
	apiVersion string
	reviews    *Reviews[tokenResult]
}

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
	known, err := w.reviews.Of(DigestOf(r.Token, wanted...), func(ctx context.Context) (tokenResult, time.Duration, error) {
		return w.review(ctx, r.Token, wanted)
	})
	if err != nil {
		return nil, fmt.Errorf("token webhook: %w: %w", ErrUnavailable, err)
	}
	return known.user, known.err
}

// review calls the webhook. ttl is the time for which the result may be cached.
func (w *webhook) review(ctx context.Context, token string, wanted []string) (known tokenResult, ttl time.Duration, err error) {
	spec := tree.Tree{"token": token}
	if len(wanted) > 0 {
		spec["audiences"] = wanted
	}
	question, err := json.Marshal(tree.Tree{"apiVersion": w.apiVersion, "kind": "TokenReview", "spec": spec})
	if err != nil {
		return known, 0, err
	}
	answer, err := w.Ask(ctx, question)
	if err != nil {
		return known, 0, err
	}
	status, err := w.status(answer)
	if err != nil {
		return known, 0, err
	}
	known, err = w.result(status, token, wanted)
	if ttl = w.TTL; known.err != nil {
		ttl = min(ttl, maxErrorTTL)
	}
	if known.user != nil {
		known.user.ValidUntil = w.Now().Add(max(ttl, minRecheckInterval))
	}
	return known, ttl, err
}

// status returns the status of a TokenReview. Errors omit the response, because it may contain the
// token.
func (w *webhook) status(answer []byte) (tree.Tree, error) {
	var review tree.Tree
	if json.Unmarshal(answer, &review) != nil {
		return nil, errors.New("the response is not a JSON object")
	}
	if review.String("apiVersion") != w.apiVersion || review.String("kind") != "TokenReview" {
		return nil, fmt.Errorf("the response is not a TokenReview of %s", w.apiVersion)
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
		return tokenResult{}, errors.New("the response has no user name")
	}
	user.Audiences = both
	return tokenResult{user: user}, nil
}
