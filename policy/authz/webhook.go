package authz

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
)

// WebhookOptions configures a Webhook. All fields are required.
type WebhookOptions struct {
	Client  *remote.Client
	Version string // of the review: v1 or v1beta1
	// AuthorizedTTL and UnauthorizedTTL are the times for which responses are cached. A TTL of 0
	// disables caching.
	AuthorizedTTL, UnauthorizedTTL time.Duration
	Naming                         *meta.Naming
	Now                            func() time.Time
	Logger                         *slog.Logger
}

// A Webhook authorizes requests by sending SubjectAccessReviews to a remote service. If a call
// fails, the decision is Failed. Concurrent identical reviews share one call. A slow call does not
// delay other requests.
type Webhook struct {
	options    WebhookOptions
	apiVersion string
	reviews    *authn.Reviews[webhookDecision] // by digest of the request body
}

type webhookDecision struct {
	decision Decision
	reason   string
}

// Limits that protect the remote service.
const (
	reviewTimeout        = 30 * time.Second // of one review including retries
	maxConcurrentReviews = 256              // more reviews wait, within reviewTimeout
	maxCachedDecisions   = 8192
)

// NewWebhook returns a Webhook with an empty cache.
func NewWebhook(o WebhookOptions) *Webhook {
	return &Webhook{options: o, apiVersion: o.Naming.Translate("authorization.platform.io/" + o.Version),
		reviews: authn.NewReviews[webhookDecision](maxCachedDecisions, maxConcurrentReviews, reviewTimeout, o.Now)}
}

// Authorize returns the cached decision for an equal review, or else calls the remote service.
func (w *Webhook) Authorize(a Attributes) (Decision, string) {
	body, err := encodeReview(&a, w.apiVersion, w.options.Version == "v1beta1")
	if err != nil {
		return w.logFailure(err)
	}
	found, err := w.reviews.Of(sha256.Sum256(body), func(ctx context.Context) (a webhookDecision, ttl time.Duration, err error) {
		text, err := w.options.Client.PostWithRetry(ctx, body, remote.DefaultBackoff)
		if err != nil {
			return a, 0, err
		}
		a, err = decodeReview(text, w.apiVersion)
		if ttl = w.options.UnauthorizedTTL; a.decision == Allow {
			ttl = w.options.AuthorizedTTL
		}
		return a, ttl, err
	})
	if err != nil {
		return w.logFailure(err)
	}
	return found.decision, found.reason
}

// logFailure logs err and returns Failed with a reason that does not expose err.
func (w *Webhook) logFailure(err error) (Decision, string) {
	w.options.Logger.Warn("the authorization webhook did not respond", "error", err)
	return Failed, "the authorization webhook did not respond"
}

// RulesFor returns an incomplete RuleSet, because only the remote service knows the rules.
func (w *Webhook) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{Incomplete: true, EvaluationError: "webhook authorizer does not support user rule resolution"}
}
