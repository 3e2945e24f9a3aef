package authz

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
	"golang.org/x/sync/singleflight"
)

// WebhookOptions configure a Webhook. All fields are required.
type WebhookOptions struct {
	Client  *remote.Client
	Version string // of the review: v1 or v1beta1
	// AuthorizedTTL and UnauthorizedTTL say how long a response is cached; 0 disables caching.
	AuthorizedTTL, UnauthorizedTTL time.Duration
	Naming                         *meta.Naming
	Now                            func() time.Time
	Logger                         *slog.Logger
}

// A Webhook sends SubjectAccessReviews to a remote service. If the call fails, it has no opinion.
// Equal concurrent reviews share one call, and waiting for it delays no other request.
type Webhook struct {
	options    WebhookOptions
	apiVersion string
	cache      *authn.Cache[webhookDecision] // by digest of the request body
	inflight   singleflight.Group            // by the same digest
	slots      chan struct{}
}

type webhookDecision struct {
	decision Decision
	reason   string
}

// Limits of the remote's cost.
const (
	reviewTimeout        = 30 * time.Second // of one review including retries
	maxConcurrentReviews = 256              // more reviews wait, within reviewTimeout
	maxCachedDecisions   = 8192
)

// NewWebhook returns a Webhook.
func NewWebhook(o WebhookOptions) *Webhook {
	return &Webhook{options: o, apiVersion: o.Naming.Translate("authorization.platform.io/" + o.Version), cache: authn.NewCache[webhookDecision](maxCachedDecisions, o.Now),
		slots: make(chan struct{}, maxConcurrentReviews)}
}

// Authorize caches decisions by the encoded review.
func (w *Webhook) Authorize(a Attributes) (Decision, string) {
	body, err := encodeReview(&a, w.apiVersion, w.options.Version == "v1beta1")
	if err != nil {
		return w.logFailure(err)
	}
	digest := authn.Digest(sha256.Sum256(body))
	if kept, ok := w.cache.Get(digest); ok {
		return kept.decision, kept.reason
	}
	got, err, _ := w.inflight.Do(string(digest[:]), func() (any, error) {
		if kept, ok := w.cache.Get(digest); ok { // stored since the check above
			return kept, nil
		}
		return w.postReview(digest, body)
	})
	if err != nil {
		return w.logFailure(err)
	}
	found := got.(webhookDecision)
	return found.decision, found.reason
}

func (w *Webhook) postReview(digest authn.Digest, body []byte) (webhookDecision, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTimeout)
	defer cancel()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return webhookDecision{}, errors.New("too many questions are waiting for their answers")
	}
	text, err := w.options.Client.PostWithRetry(ctx, body, remote.DefaultBackoff)
	if err != nil {
		return webhookDecision{}, err
	}
	a, err := decodeReview(text, w.apiVersion)
	if err != nil {
		return webhookDecision{}, err
	}
	ttl := w.options.UnauthorizedTTL
	if a.decision == Allow {
		ttl = w.options.AuthorizedTTL
	}
	if ttl > 0 {
		w.cache.Put(digest, a, w.options.Now().Add(ttl))
	}
	return a, nil
}

// logFailure logs the cause, which clients do not see.
func (w *Webhook) logFailure(err error) (Decision, string) {
	w.options.Logger.Warn("the authorization webhook gave no answer", "error", err)
	return Failed, "the authorization webhook gave no answer"
}

// RulesFor reports that only the remote knows the rules.
func (w *Webhook) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{Incomplete: true, EvaluationError: "webhook authorizer does not support user rule resolution"}
}
