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
	Service *remote.Service
	Version string // of the review: v1 or v1beta1
	// AllowedTTL and RefusedTTL are how long an answer is kept; 0 keeps none.
	AllowedTTL, RefusedTTL time.Duration
	Naming                 *meta.Naming
	Now                    func() time.Time
	Logger                 *slog.Logger
}

// A Webhook asks a remote service with a SubjectAccessReview. If the remote cannot be asked it
// has no opinion. Whoever waits for an answer holds up nobody else, and the same question is
// asked once however many wait for it.
type Webhook struct {
	o          WebhookOptions
	apiVersion string
	kept       *authn.Cache[answer] // by the digest of the question
	asking     singleflight.Group   // by the same
	slots      chan struct{}
}

// An answer is what the remote has decided.
type answer struct {
	decision Decision
	reason   string
}

// What the remote can cost.
const (
	maxAskingTime = 30 * time.Second // of one question with all its repetitions
	maxQuestions  = 256              // at a time; others wait, as part of their time
	maxAnswers    = 8192             // that are kept
)

// NewWebhook makes the mode.
func NewWebhook(o WebhookOptions) *Webhook {
	return &Webhook{o: o, apiVersion: o.Naming.Name("authorization.platform.io/" + o.Version), kept: authn.NewCache[answer](maxAnswers, o.Now),
		slots: make(chan struct{}, maxQuestions)}
}

// Authorize implements Authorizer.
func (w *Webhook) Authorize(a Attributes) (Decision, string) {
	body, err := newQuestion(&a, w.apiVersion, w.o.Version == "v1beta1")
	if err != nil {
		return w.failed(err)
	}
	digest := authn.Digest(sha256.Sum256(body))
	if kept, ok := w.kept.Get(digest); ok {
		return kept.decision, kept.reason
	}
	got, err, _ := w.asking.Do(string(digest[:]), func() (any, error) {
		if kept, ok := w.kept.Get(digest); ok { // since the look above
			return kept, nil
		}
		return w.ask(digest, body)
	})
	if err != nil {
		return w.failed(err)
	}
	found := got.(answer)
	return found.decision, found.reason
}

func (w *Webhook) ask(digest authn.Digest, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxAskingTime)
	defer cancel()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return answer{}, errors.New("too many questions are waiting for their answers")
	}
	text, err := w.o.Service.Ask(ctx, body, remote.Patiently)
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(text, w.apiVersion)
	if err != nil {
		return answer{}, err
	}
	ttl := w.o.RefusedTTL
	if a.decision == Allow {
		ttl = w.o.AllowedTTL
	}
	if ttl > 0 {
		w.kept.Put(digest, a, w.o.Now().Add(ttl))
	}
	return a, nil
}

// failed logs why; clients learn only that it is so.
func (w *Webhook) failed(err error) (Decision, string) {
	w.o.Logger.Warn("authz: the authorization webhook gave no answer", "error", err)
	return Failed, "the authorization webhook gave no answer"
}

// Permissions are known to the remote alone.
func (w *Webhook) Permissions(*authn.User, string) Permissions {
	return Permissions{Incomplete: true, Fault: "webhook authorizer does not support user rule resolution"}
}
