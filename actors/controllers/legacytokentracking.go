package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// trackedSinceKey is the key of the ConfigMap that says from which day on the use of legacy tokens is noted.
const trackedSinceKey = "since"

// LegacyTokenTracking notes at the Secrets of service account tokens, in a label, on which day the token was last used, and
// keeps the ConfigMap that says since when it does.
type LegacyTokenTracking struct {
	*keptConfigMap
	secrets  *schema.Kind
	lastUsed string // the label
	used     *reconcile.Workqueue[meta.Key]
	now      func() time.Time
}

// NewLegacyTokenTracking returns the controller for the kinds of a catalogue.
func NewLegacyTokenTracking(store Store, kinds *catalog.Catalog, logger *slog.Logger) *LegacyTokenTracking {
	n := kinds.Naming()
	t := &LegacyTokenTracking{
		keptConfigMap: newKeptConfigMap(store, kinds, n.SystemNamespace(), n.Translate(legacyTokenTracking), logger),
		secrets:       reconcile.CoreKind(kinds, "Secret"), lastUsed: serviceaccount.NewSecretNames(n).LastUsed,
		used: reconcile.NewWorkqueue[meta.Key](), now: time.Now,
	}
	t.data = t.correct
	return t
}

// legacyTokenTracking is the name of the ConfigMap.
const legacyTokenTracking = "platform-apiserver-legacy-service-account-token-tracking"

// Used notes that the token of a Secret is in use. It returns at once.
func (t *LegacyTokenTracking) Used(namespace, name string) {
	t.used.Add(meta.Key{GroupResource: t.secrets.Storage, Namespace: namespace, Name: name}.Clone())
}

// Run runs the controller until the context ends.
func (t *LegacyTokenTracking) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { t.keptConfigMap.Run(ctx) })
	t.used.Run(ctx, t.label, func(key meta.Key, err error) {
		t.logger.Warn("the last use of a service account token is not noted", "key", key.String(), "error", err)
	})
}

// correct begins anew where the day cannot be read: since when has to be a day that is certain.
func (t *LegacyTokenTracking) correct(object tree.Tree) tree.Tree {
	if _, err := time.Parse(time.DateOnly, object.Object("data").String(trackedSinceKey)); err == nil {
		return nil
	}
	return tree.Tree{trackedSinceKey: t.now().UTC().Format(time.DateOnly)}
}

// label writes the day into the label, unless it is there.
func (t *LegacyTokenTracking) label(ctx context.Context, key meta.Key) error {
	o, _, err := reconcile.Read(ctx, t.store, t.secrets, key)
	if err != nil || o == nil || !serviceaccount.IsLastUsedStale(o.Meta.Labels, t.lastUsed, t.now()) {
		return err
	}
	day := t.now().UTC().Format(time.DateOnly)
	return reconcile.PatchIfUnchanged(ctx, t.store, t.secrets, o, "", tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{t.lastUsed: day}}})
}
