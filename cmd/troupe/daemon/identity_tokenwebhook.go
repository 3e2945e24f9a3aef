package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
)

// TokenWebhook configures the webhook that reviews tokens. Its responses are cached for CacheTTL.
type TokenWebhook struct {
	ConfigFile string   `flag:"authentication-token-webhook-config-file"` // "" disables it
	CacheTTL   Duration `flag:"authentication-token-webhook-cache-ttl"`
	Version    string   `flag:"authentication-token-webhook-version"`
}

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
