package tokens

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

// LegacyTracking records the day of a token's last use in a label of its Secret. It also
// maintains a ConfigMap with the day on which tracking began.
type LegacyTracking struct {
	*keptConfigMap
	secrets  reconcile.Client
	lastUsed string
	used     *reconcile.Controller[meta.Key] // queue of Secrets whose tokens were used
}

func NewLegacyTracking(env *reconcile.Env) *LegacyTracking {
	t := &LegacyTracking{secrets: env.Core("Secret"), lastUsed: serviceaccount.NewSecretNames(env.Naming).LastUsed}
	t.keptConfigMap = newKeptConfigMap(env, env.SystemNamespace(), env.Translate(legacyTokenTracking), t.correct)
	t.used = reconcile.New(env, "", t.label, "cannot record the last use of a service account token", "key")
	t.Go(t.used.Run)
	return t
}

const legacyTokenTracking = "platform-apiserver-legacy-service-account-token-tracking"

// Used records the use of a Secret's token. It does not wait for the write.
func (t *LegacyTracking) Used(namespace, name string) {
	t.used.Add(t.secrets.Key(namespace, name).Clone())
}

func (t *LegacyTracking) correct(object tree.Tree) tree.Tree {
	if _, err := time.Parse(time.DateOnly, object.Object("data").String(trackedSinceKey)); err == nil {
		return nil
	}
	return tree.Tree{trackedSinceKey: time.Now().UTC().Format(time.DateOnly)}
}

func (t *LegacyTracking) label(ctx context.Context, key meta.Key) error {
	o, err := t.secrets.Get(ctx, key)
	if err != nil || o == nil || !serviceaccount.IsLastUsedStale(o.Meta.Labels, t.lastUsed, time.Now()) {
		return err
	}
	day := time.Now().UTC().Format(time.DateOnly)
	return t.secrets.Patch(ctx, o, "", tree.Tree{"metadata": tree.Tree{"labels": tree.Tree{t.lastUsed: day}}})
}
