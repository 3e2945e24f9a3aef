package controllers

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// trackedSinceKey is the key of the ConfigMap that says from which day on the use of legacy tokens is noted.
const trackedSinceKey = "since"

// LegacyTokenTracking notes at the Secrets of service account tokens, in a label, on which day the token was last used, and
// keeps the ConfigMap that says since when it does.
type LegacyTokenTracking struct {
	*keptConfigMap
	secrets  reconcile.Client
	lastUsed string
	used     *reconcile.Controller[meta.Key] // of Secrets whose tokens were used
	now      func() time.Time
}

// NewLegacyTokenTracking returns the controller.
func NewLegacyTokenTracking(env *Env) *LegacyTokenTracking {
	t := &LegacyTokenTracking{secrets: env.Core("Secret"), lastUsed: serviceaccount.NewSecretNames(env.Naming).LastUsed, now: time.Now}
	t.keptConfigMap = newKeptConfigMap(env, env.SystemNamespace(), env.Translate(legacyTokenTracking), t.correct)
	t.used = reconcile.New(env, "", t.label, "the last use of a service account token is not noted", "key")
	t.Go(t.used.Run)
	return t
}

// legacyTokenTracking is the name of the ConfigMap.
const legacyTokenTracking = "platform-apiserver-legacy-service-account-token-tracking"

// Used notes that the token of a Secret is in use. It returns at once.
func (t *LegacyTokenTracking) Used(namespace, name string) {
	t.used.Add(t.secrets.Key(namespace, name).Clone())
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
	o, err := t.secrets.Get(ctx, key)
	if err != nil || o == nil || !serviceaccount.IsLastUsedStale(o.Meta.Labels, t.lastUsed, t.now()) {
		return err
	}
	day := t.now().UTC().Format(time.DateOnly)
	return t.secrets.Patch(ctx, o, "", tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{t.lastUsed: day}}})
}
