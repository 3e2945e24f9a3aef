package controllers

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/request"
)

// TokenCleaner deletes the Secrets of expired bootstrap tokens.
type TokenCleaner struct {
	store  Store
	tokens *bootstrapTokens
	logger *slog.Logger
}

// NewTokenCleaner returns the controller for the kinds of a catalogue.
func NewTokenCleaner(store Store, kinds *catalog.Catalog, logger *slog.Logger) *TokenCleaner {
	return &TokenCleaner{store: store, tokens: newBootstrapTokens(kinds), logger: logger}
}

// Run runs the controller until the context ends.
func (c *TokenCleaner) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, c.store, c.tokens.kind, c.tokens) })
	c.tokens.run(ctx, c.clean)
}

// clean deletes the Secrets of tokens that have ended, each only as it was seen: an administrator may have prolonged the
// token meanwhile. One that fails does not keep the others.
func (c *TokenCleaner) clean(ctx context.Context, all []bootstrapSecret, now time.Time) error {
	var faults []error
	for _, s := range all {
		if !s.Expired(now) {
			continue
		}
		_, err := c.store.Mutate(ctx, request.Mutation{
			Kind: c.tokens.kind, Key: s.object, Change: request.Delete{UID: &s.uid, ResourceVersion: new(strconv.FormatUint(s.version, 10))},
		})
		if err != nil && !reconcile.IsNotFound(err) && !reconcile.IsConflict(err) { // after a conflict, the watch delivers the new version
			c.logger.Warn("a bootstrap token that has ended stays", "key", s.object.String(), "error", err)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
