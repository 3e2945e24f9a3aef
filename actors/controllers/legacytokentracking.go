package controllers

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// trackedSinceKey is the ConfigMap key of the day on which tracking of token use began.
const trackedSinceKey = "since"

// LegacyTokenTracking records the day of a token's last use in a label of its Secret. It also
// maintains a ConfigMap with the day on which tracking began.
type LegacyTokenTracking struct {
	*keptConfigMap
	secrets  reconcile.Client
	lastUsed string
	used     *reconcile.Controller[meta.Key] // queue of Secrets whose tokens were used
	now      func() time.Time
}

// NewLegacyTokenTracking returns a new LegacyTokenTracking.
func NewLegacyTokenTracking(env *Env) *LegacyTokenTracking {
	t := &LegacyTokenTracking{secrets: env.Core("Secret"), lastUsed: serviceaccount.NewSecretNames(env.Naming).LastUsed, now: time.Now}
	t.keptConfigMap = newKeptConfigMap(env, env.SystemNamespace(), env.Translate(legacyTokenTracking), t.correct)
	t.used = reconcile.New(env, "", t.label, "cannot record the last use of a service account token", "key")
	t.Go(t.used.Run)
	return t
}

const legacyTokenTracking = "platform-apiserver-legacy-service-account-token-tracking"

// Used records the use of a Secret's token. It does not wait for the write.
func (t *LegacyTokenTracking) Used(namespace, name string) {
	t.used.Add(t.secrets.Key(namespace, name).Clone())
}

func (t *LegacyTokenTracking) correct(object tree.Tree) tree.Tree {
	if _, err := time.Parse(time.DateOnly, object.Object("data").String(trackedSinceKey)); err == nil {
		return nil
	}
	return tree.Tree{trackedSinceKey: t.now().UTC().Format(time.DateOnly)}
}

func (t *LegacyTokenTracking) label(ctx context.Context, key meta.Key) error {
	o, err := t.secrets.Get(ctx, key)
	if err != nil || o == nil || !serviceaccount.IsLastUsedStale(o.Meta.Labels, t.lastUsed, t.now()) {
		return err
	}
	day := t.now().UTC().Format(time.DateOnly)
	return t.secrets.Patch(ctx, o, "", tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{t.lastUsed: day}}})
}
