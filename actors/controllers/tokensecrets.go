package controllers

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
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
	queue             *workqueue[meta.Key] // accounts
}

// NewTokenSecrets returns the controller for the kinds of a catalogue.
func NewTokenSecrets(store Store, kinds *catalog.Catalog, logger *slog.Logger) *TokenSecrets {
	return &TokenSecrets{
		store: store, names: serviceaccount.NewSecretNames(kinds.Naming()), logger: logger, queue: newWorkqueue[meta.Key](),
		secrets:  coreKind(kinds, "Secret"),
		accounts: coreKind(kinds, "ServiceAccount"),
	}
}

// Run runs the controller until the context ends.
func (t *TokenSecrets) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		RunInformer(ctx, t.store, t.accounts, eventHandlerFunc(func(o *meta.Object, gone bool) {
			if !gone && !o.Meta.Terminating {
				t.queue.add(cloneKey(o.Key))
			}
		}))
	})
	t.queue.run(ctx, t.ensure, func(key meta.Key, err error) {
		t.logger.Warn("a service account has no secret", "key", key.String(), "error", err)
	})
}

// ensure makes an account reference a token Secret. It uses an existing Secret of the account if there
// is one: an earlier attempt may have created it and failed to add the reference.
func (t *TokenSecrets) ensure(ctx context.Context, key meta.Key) error {
	o, err := t.store.Get(ctx, request.Get{Kind: t.accounts, Key: key})
	if err != nil {
		if isNotFound(err) {
			return nil
		}
		return err
	}
	there, err := t.secretsOf(ctx, key)
	if err != nil {
		return err
	}
	var fault error
	err = updateSecretReferences(ctx, t.store, t.accounts, key, func(secrets []any) []any {
		for _, s := range secrets {
			if r, ok := s.(tree.Tree); ok && slices.Contains(there, any(r["name"])) {
				return secrets
			}
		}
		var name any
		if len(there) > 0 {
			name = there[0]
		} else if name, fault = t.createSecret(ctx, o); fault != nil {
			return secrets
		}
		return append(slices.Clone(secrets), tree.Tree{"name": name})
	})
	return errors.Join(fault, err)
}

// secretsOf returns the names of the token Secrets of an account.
func (t *TokenSecrets) secretsOf(ctx context.Context, account meta.Key) (names []any, err error) {
	all, err := t.store.List(ctx, request.List{Kind: t.secrets, Namespace: account.Namespace})
	for _, o := range all.Items {
		if of, ok := accountOf(t.names, t.secrets, o); ok && of == account.Name && !o.Meta.Terminating {
			names = append(names, o.Key.Name)
		}
	}
	return names, err
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
	_, err := t.store.Mutate(ctx, request.Mutation{Verb: request.Create, Kind: t.secrets, Key: key, Object: tree.Tree{
		"metadata": tree.Tree{
			"name": key.Name, "namespace": key.Namespace,
			"annotations": tree.Tree{t.names.Account: account.Key.Name, t.names.UID: account.Meta.UID},
		},
		"type": t.names.Type,
	}})
	return key.Name, err
}
