package tokens

import (
	"context"
	"errors"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
)

// BootstrapCleaner deletes the Secrets of expired bootstrap tokens.
type BootstrapCleaner struct{ *bootstrapTokens }

func NewBootstrapCleaner(env *reconcile.Env) *BootstrapCleaner {
	c := &BootstrapCleaner{}
	c.bootstrapTokens = newBootstrapTokens(env, c.clean)
	return c
}

// clean deletes the Secrets of expired tokens. It deletes only the observed version of a Secret,
// because an administrator may have extended the token. After an error, it continues with the next
// Secret.
func (c *BootstrapCleaner) clean(ctx context.Context, all []bootstrapSecret, now time.Time) error {
	var faults []error
	for _, s := range all {
		if !s.Expired(now) {
			continue
		}
		if err := c.client.Delete(ctx, s.object); err != nil && !reconcile.IsConflict(err) {
			c.Log.Warn("cannot delete an expired bootstrap token", "key", s.object.Key.String(), "error", err)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
