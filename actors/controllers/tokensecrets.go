package controllers

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// TokenSecrets creates a token Secret for every service account that references none, and adds the
// reference. Tokens then fills the Secret.
type TokenSecrets struct {
	store             Store
	secrets, accounts *schema.Kind
	names             serviceaccount.SecretNames
	logger            *slog.Logger
	queue             *reconcile.Workqueue[meta.Key] // accounts
}

// NewTokenSecrets returns the controller for the kinds of a catalogue.
func NewTokenSecrets(store Store, kinds *catalog.Catalog, logger *slog.Logger) *TokenSecrets {
	return &TokenSecrets{
		store: store, names: serviceaccount.NewSecretNames(kinds.Naming()), logger: logger, queue: reconcile.NewWorkqueue[meta.Key](),
		secrets:  reconcile.CoreKind(kinds, "Secret"),
		accounts: reconcile.CoreKind(kinds, "ServiceAccount"),
	}
}

// Run runs the controller until the context ends.
func (t *TokenSecrets) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, t.store, t.accounts, reconcile.UpdateHandlerFunc(func(o *meta.Object) {
			if !o.Meta.Terminating {
				t.queue.Add(o.Key)
			}
		}))
	})
	t.queue.Run(ctx, t.ensure, func(key meta.Key, err error) {
		t.logger.Warn("a service account has no secret", "key", key.String(), "error", err)
	})
}

// ensure makes an account reference a token Secret. It uses an existing Secret of the account if there
// is one: an earlier attempt may have created it and failed to add the reference.
func (t *TokenSecrets) ensure(ctx context.Context, key meta.Key) error {
	o, err := t.store.Get(ctx, request.Get{Kind: t.accounts, Key: key})
	if err != nil || o.Meta.Terminating {
		if reconcile.IsNotFound(err) {
			return nil
		}
		return err
	}
	object, err := codec.DecodeStored(t.accounts.Message(), o.JSON)
	if err != nil {
		return err
	}
	for _, s := range object.Objects("secrets") {
		if has, err := t.isSecretOf(ctx, key, s.String("name")); has || err != nil {
			return err
		}
	}
	name, err := t.secretOf(ctx, key)
	if err == nil && name == "" {
		name, err = t.createSecret(ctx, o)
	}
	if err != nil {
		if reconcile.IsNamespaceTerminating(err) {
			return nil // the account goes, too
		}
		return err
	}
	references := append(object.List("secrets"), tree.Tree{"name": name})
	return reconcile.PatchIfUnchanged(ctx, t.store, t.accounts, o, "", tree.Tree{"secrets": references})
}

// isSecretOf reports whether an account has a token Secret of a name.
func (t *TokenSecrets) isSecretOf(ctx context.Context, account meta.Key, name string) (bool, error) {
	o, err := t.store.Get(ctx, request.Get{Kind: t.secrets, Key: meta.Key{GroupResource: t.secrets.Storage, Namespace: account.Namespace, Name: name}})
	if err != nil {
		if reconcile.IsNotFound(err) {
			return false, nil
		}
		return false, err
	}
	return t.belongsTo(o, account), nil
}

// belongsTo tells whether a Secret holds tokens of the account. One that is being deleted does not count any more.
func (t *TokenSecrets) belongsTo(o *meta.Object, account meta.Key) bool {
	of, ok := accountOf(t.names, t.secrets, o)
	return ok && of == account.Name && !o.Meta.Terminating
}

// secretOf returns the name of a token Secret of an account; "" if there is none. Only Secrets that hold the name of the
// account are decoded: a namespace may have as many accounts as Secrets.
func (t *TokenSecrets) secretOf(ctx context.Context, account meta.Key) (string, error) {
	all, err := t.store.List(ctx, request.List{Kind: t.secrets, Namespace: account.Namespace})
	quoted := []byte(`"` + account.Name + `"`)
	for _, o := range all.Items {
		if bytes.Contains(o.JSON, quoted) && t.belongsTo(o, account) {
			return o.Key.Name, err
		}
	}
	return "", err
}

// suffixLetters are the characters of generated names: without vowels, so that they form no words.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

// createSecret creates a token Secret for an account, and returns its name.
func (t *TokenSecrets) createSecret(ctx context.Context, account *meta.Object) (string, error) {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = suffixLetters[rand.IntN(len(suffixLetters))]
	}
	key := meta.Key{GroupResource: t.secrets.Storage, Namespace: account.Key.Namespace, Name: account.Key.Name + "-token-" + string(suffix)}
	_, err := t.store.Mutate(ctx, request.Mutation{Kind: t.secrets, Key: key, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{
			"name": key.Name, "namespace": key.Namespace,
			"annotations": tree.Tree{t.names.Account: account.Key.Name, t.names.UID: account.Meta.UID},
		},
		"type": t.names.Type,
	}}})
	return key.Name, err
}
