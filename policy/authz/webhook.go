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

// WebhookOptions say whom a Webhook asks and how long its answers count. All are required.
type WebhookOptions struct {
	Client  *remote.Client
	Version string // of the review: v1 or v1beta1
	// AuthorizedTTL and UnauthorizedTTL are how long an answer is kept; 0 keeps none.
	AuthorizedTTL, UnauthorizedTTL time.Duration
	Naming                         *meta.Naming
	Now                            func() time.Time
	Logger                         *slog.Logger
}

// A Webhook asks a remote service with a SubjectAccessReview. If the remote cannot be asked it
// has no opinion. Waiting for an answer holds up no other request, and the same question is
// asked once however many wait for it.
type Webhook struct {
	options    WebhookOptions
	apiVersion string
	cache      *authn.Cache[webhookDecision] // by the digest of the question
	inflight   singleflight.Group            // by the same
	slots      chan struct{}
}

// A webhookDecision is what the remote has decided.
type webhookDecision struct {
	decision Decision
	reason   string
}

// What the remote can cost.
const (
	reviewTimeout        = 30 * time.Second // of one question with all its repetitions
	maxConcurrentReviews = 256              // at a time; others wait, as part of their time
	maxCachedDecisions   = 8192             // that are kept
)

// NewWebhook makes the mode.
func NewWebhook(o WebhookOptions) *Webhook {
	return &Webhook{options: o, apiVersion: o.Naming.Translate("authorization.platform.io/" + o.Version), cache: authn.NewCache[webhookDecision](maxCachedDecisions, o.Now),
		slots: make(chan struct{}, maxConcurrentReviews)}
}

// Authorize implements Authorizer.
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
		if kept, ok := w.cache.Get(digest); ok { // it was stored since the check above
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

// logFailure logs why; clients learn only that it is so.
func (w *Webhook) logFailure(err error) (Decision, string) {
	w.options.Logger.Warn("the authorization webhook gave no answer", "error", err)
	return Failed, "the authorization webhook gave no answer"
}

// RulesFor are known to the remote alone.
func (w *Webhook) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{Incomplete: true, EvaluationError: "webhook authorizer does not support user rule resolution"}
}
