package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
)

// TokenWebhook is the remote that knows tokens. Its answers are kept for CacheTTL, so that a busy client
// does not make it a bottleneck.
type TokenWebhook struct {
	ConfigFile string   `json:"configFile"` // "" is none
	CacheTTL   Duration `json:"cacheTTL"`
	Version    string   `json:"version"`
}

// defaultTokenWebhook has the version that kube-apiserver sends by default, though v1 is newer: remotes rely on it.
func defaultTokenWebhook() TokenWebhook {
	return TokenWebhook{CacheTTL: Duration(2 * time.Minute), Version: "v1beta1"}
}

// flags binds the section.
func (w *TokenWebhook) flags(f *pflag.FlagSet) {
	f.StringVar(&w.ConfigFile, "authentication-token-webhook-config-file", w.ConfigFile, "Client configuration file (kubeconfig) of the remote that is asked about bearer tokens.")
	f.Var(&w.CacheTTL, "authentication-token-webhook-cache-ttl", "How long an answer of that remote counts; 0 asks for every request.")
	f.StringVar(&w.Version, "authentication-token-webhook-version", w.Version, "Version of the TokenReview that the remote gets: v1 or v1beta1.")
}

// validate allows a time of 0, which asks the remote for every request.
func (w TokenWebhook) validate(f *faults) {
	f.check(w.CacheTTL >= 0, "authentication.webhook.cacheTTL", "must not be negative")
	f.oneOf("authentication.webhook.version", w.Version, "v1", "v1beta1")
}

// newWebhookTokenAuthenticator asks the remote that knows tokens.
func (a *authentication) newWebhookTokenAuthenticator() (authn.Authenticator, error) {
	c := a.config.Authentication.Webhook
	service, err := remote.Load(c.ConfigFile)
	if err != nil {
		return nil, fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	return authn.Webhook(authn.WebhookOptions{
		Ask: func(ctx context.Context, review []byte) ([]byte, error) {
			return service.PostWithRetry(ctx, review, remote.DefaultBackoff)
		},
		TTL: time.Duration(c.CacheTTL), Version: c.Version, Audiences: a.identity.tokens.audiences, Naming: a.naming, Now: time.Now,
	}), nil
}
