package authz

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
)

// WebhookOptions configures a Webhook. All fields are required.
type WebhookOptions struct {
	Name   string // name in metrics
	Client *remote.Client
	// Config is a valid WebhookConfiguration (kinds/api/apiserver).
	Config      tree.Tree
	Expressions *expressions.Compiler
	Metrics     *Metrics
	Naming      *meta.Naming
	Now         func() time.Time
	Logger      *slog.Logger
}

// A Webhook authorizes requests by sending SubjectAccessReviews to a remote service. If a call or a
// condition fails, the failurePolicy decides. Concurrent identical reviews share one call. A slow
// call does not delay other requests.
type Webhook struct {
	options                        WebhookOptions
	conditions                     []*expressions.Expr
	apiVersion                     string
	beta, denies                   bool                            // version is v1beta1; failurePolicy is Deny
	authorizedTTL, unauthorizedTTL time.Duration                   // 0 disables caching
	reviews                        *authn.Reviews[webhookDecision] // by digest of the request body
}

type webhookDecision struct {
	decision Decision
	reason   string
}

// Limits that protect the remote service.
const (
	maxConcurrentReviews = 256 // more reviews wait, within the timeout
	maxCachedDecisions   = 8192
)

// NewWebhook returns a Webhook with an empty cache. The timeout covers all retries.
func NewWebhook(o WebhookOptions) *Webhook {
	version := o.Config.String("subjectAccessReviewVersion")
	ttl := func(name, enabled string, standard time.Duration) time.Duration {
		if !o.Config.Bool(enabled) {
			return 0
		}
		return cmp.Or(duration(o.Config, name), standard)
	}
	w := &Webhook{
		options: o, apiVersion: o.Naming.Translate("authorization.platform.io/" + version),
		beta: version == "v1beta1", denies: o.Config.String("failurePolicy") == "Deny",
		authorizedTTL:   ttl("authorizedTTL", "cacheAuthorizedRequests", 5*time.Minute),
		unauthorizedTTL: ttl("unauthorizedTTL", "cacheUnauthorizedRequests", 30*time.Second),
		reviews:         authn.NewReviews[webhookDecision](maxCachedDecisions, maxConcurrentReviews, duration(o.Config, "timeout"), o.Now),
	}
	for _, c := range o.Config.Objects("matchConditions") {
		w.conditions = append(w.conditions, o.Expressions.Access("request", c.String("expression"), cel.Bool))
	}
	return w
}

func duration(t tree.Tree, name string) time.Duration {
	d, _ := time.ParseDuration(t.String(name))
	return d
}

// Authorize returns the cached decision for an equal review. On a miss, it calls the remote
// service.
func (w *Webhook) Authorize(a Attributes) (Decision, string) {
	if excluded, err := w.excludes(&a); err != nil {
		return w.fail(err, NoOpinion, "the matchConditions of the authorization webhook failed")
	} else if excluded {
		return NoOpinion, ""
	}
	body, err := encodeReview(&a, w.apiVersion, w.beta)
	if err != nil {
		return w.fail(err, Failed, noResponse)
	}
	found, err := w.reviews.Of(sha256.Sum256(body), func(ctx context.Context) (a webhookDecision, ttl time.Duration, err error) {
		began := time.Now()
		text, err := w.options.Client.PostWithRetry(ctx, body, remote.DefaultBackoff)
		if err == nil {
			a, err = decodeReview(text, w.apiVersion)
		}
		w.observe(err, time.Since(began))
		if ttl = w.unauthorizedTTL; a.decision == Allow {
			ttl = w.authorizedTTL
		}
		return a, ttl, err
	})
	if err != nil {
		return w.fail(err, Failed, noResponse)
	}
	return found.decision, found.reason
}

// excludes reports whether a condition is false. If no condition is false, it returns an evaluation
// error, if any.
func (w *Webhook) excludes(a *Attributes) (excluded bool, err error) {
	if len(w.conditions) == 0 {
		return false, nil
	}
	request := a.reviewSpec()
	budget := cel.NewBudget(cel.MatchConditionsBudget)
	for _, x := range w.conditions {
		v, failure := x.Program.Eval(context.Background(), cel.Variables{"request": request}, budget)
		if failure != nil {
			err = failure
		} else if !cel.Truth(v) {
			return true, nil
		}
	}
	return false, err
}

func (w *Webhook) observe(err error, took time.Duration) {
	m, result := w.options.Metrics, "success"
	if err != nil {
		if result = "error"; errors.Is(err, context.DeadlineExceeded) {
			result = "timeout"
		}
		if !w.denies {
			m.failOpen.With(w.options.Name, result).Inc()
		}
	}
	m.evaluations.With(w.options.Name, result).Inc()
	m.duration.With(w.options.Name, result).ObserveDuration(took)
}

const noResponse = "the authorization webhook did not respond"

// fail logs err, which reason does not expose. It returns Deny if the failurePolicy is Deny, and
// open otherwise.
func (w *Webhook) fail(err error, open Decision, reason string) (Decision, string) {
	w.options.Logger.Warn(reason, "name", w.options.Name, "error", err)
	if w.denies {
		return Deny, reason
	}
	return open, reason
}

// RulesFor returns an incomplete RuleSet, because only the remote service knows the rules.
func (w *Webhook) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{Incomplete: true, EvaluationError: "webhook authorizer does not support user rule resolution"}
}
