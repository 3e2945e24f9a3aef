package controllers

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
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

// Tokens writes the token, the CA and the namespace into Secrets of type service account token, and
// deletes such Secrets when their account is deleted. When a Secret is deleted, Tokens removes the
// reference to it from the account.
type Tokens struct {
	store             Store
	secrets, accounts *schema.Kind
	names             serviceaccount.SecretNames
	issuer            *serviceaccount.Issuer
	caBundle          func() []byte // PEM of the CAs that clients are to trust
	logger            *slog.Logger

	queue            *reconcile.Workqueue[meta.Key] // Secrets
	mu               sync.Mutex                     // guards the next two
	owners           map[meta.Key]tokenOwner        // the account of each Secret
	secretsByAccount map[meta.Key]map[meta.Key]bool // the reverse of owners
}

// tokenOwner is the account that a Secret names. It is kept after the Secret is deleted (gone), until
// the account does not reference the Secret any more.
type tokenOwner struct {
	account meta.Key
	gone    bool
}

// NewTokens returns the controller for the kinds of a catalogue. issuer signs the tokens.
func NewTokens(store Store, kinds *catalog.Catalog, issuer *serviceaccount.Issuer, caBundle func() []byte, logger *slog.Logger) *Tokens {
	return &Tokens{
		store: store, names: serviceaccount.NewSecretNames(kinds.Naming()), issuer: issuer, caBundle: caBundle, logger: logger,
		secrets:  reconcile.CoreKind(kinds, "Secret"),
		accounts: reconcile.CoreKind(kinds, "ServiceAccount"),
		queue:    reconcile.NewWorkqueue[meta.Key]().Named("serviceaccount_tokens_service"), owners: map[meta.Key]tokenOwner{}, secretsByAccount: map[meta.Key]map[meta.Key]bool{},
	}
}

// Run runs the controller until the context ends.
func (t *Tokens) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, t.store, t.secrets, reconcile.EventHandlerFunc(t.onSecret)) })
	running.Go(func() { reconcile.RunInformer(ctx, t.store, t.accounts, reconcile.EventHandlerFunc(t.onAccount)) })
	t.queue.Run(ctx, t.sync, func(key meta.Key, err error) {
		t.logger.Warn("a secret lacks its token", "key", key.String(), "error", err)
	})
}

// onSecret keeps owners and secretsByAccount the same. A Secret that is gone stays in owners until it was processed, since
// its account can then be told from nothing else.
func (t *Tokens) onSecret(e reconcile.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Deleted {
		if of, known := t.owners[e.Key]; known {
			t.owners[e.Key] = tokenOwner{of.account, true}
			t.queue.Add(e.Key)
		}
		return
	}
	account, ok := accountOf(t.names, t.secrets, e.Object)
	if !ok {
		return
	}
	secret, key := e.Key, meta.Key{GroupResource: t.accounts.Storage, Namespace: e.Key.Namespace, Name: account}.Clone()
	t.forget(secret)
	t.owners[secret] = tokenOwner{account: key}
	if t.secretsByAccount[key] == nil {
		t.secretsByAccount[key] = map[meta.Key]bool{}
	}
	t.secretsByAccount[key][secret] = true
	t.queue.Add(secret)
}

// forget removes a Secret from both maps. The caller holds the lock.
func (t *Tokens) forget(secret meta.Key) {
	of, known := t.owners[secret]
	if !known {
		return
	}
	delete(t.owners, secret)
	if delete(t.secretsByAccount[of.account], secret); len(t.secretsByAccount[of.account]) == 0 {
		delete(t.secretsByAccount, of.account)
	}
}

// onAccount enqueues the Secrets of an account that has come, changed or gone: they need a token, or must go with it.
// The lock is taken before that of the queue, as in onSecret.
func (t *Tokens) onAccount(e reconcile.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for secret := range t.secretsByAccount[e.Key] {
		t.queue.Add(secret)
	}
}

// accountOf returns the account that a Secret names; ok is false for Secrets of other types.
func accountOf(n serviceaccount.SecretNames, k *schema.Kind, o *meta.Object) (account string, ok bool) {
	if !bytes.Contains(o.JSON, []byte(n.Type)) { // most Secrets have other types: do not decode them
		return "", false
	}
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return "", false
	}
	secret, ok := n.Read(object)
	return secret.Account, ok && secret.Account != ""
}

// sync processes one Secret: it is filled if its account exists and deleted if not. If the Secret
// itself is deleted, the reference to it is removed.
func (t *Tokens) sync(ctx context.Context, key meta.Key) error {
	o, err := t.store.Get(ctx, request.Get{Kind: t.secrets, Key: key})
	switch {
	case reconcile.IsNotFound(err):
		return t.removeSecretReference(ctx, key)
	case err != nil || o.Meta.Terminating:
		return err
	}
	object, err := codec.DecodeStored(t.secrets.Message(), o.JSON)
	if err != nil {
		return err
	}
	secret, ok := t.names.Read(object)
	if !ok {
		return nil // deleted, and created again with another type
	}
	account := serviceaccount.Account{Namespace: key.Namespace, Name: secret.Account}
	head, err := t.store.Get(ctx, request.Get{Kind: t.accounts, Key: meta.Key{GroupResource: t.accounts.Storage, Namespace: key.Namespace, Name: account.Name}})
	if err != nil && !reconcile.IsNotFound(err) {
		return err
	}
	if err != nil || secret.UID != "" && secret.UID != head.Meta.UID {
		return reconcile.DeleteIfUnchanged(ctx, t.store, t.secrets, o, "")
	}
	account.UID = head.Meta.UID
	err = t.fill(ctx, o, secret, account)
	if reconcile.IsImmutable(err, object) {
		t.logger.Warn("a secret cannot hold its token", "key", o.Key.String(), "error", err)
		return nil
	}
	return err
}

// fill writes the missing data into a Secret. An existing token is never replaced; the CA is, when it
// has changed.
func (t *Tokens) fill(ctx context.Context, o *meta.Object, secret serviceaccount.TokenSecret, account serviceaccount.Account) error {
	have, lacks := secret.Data, tree.Tree{}
	if have.String(serviceaccount.TokenKey) == "" {
		token, err := t.issuer.SignLegacy(account, o.Key.Name)
		if err != nil {
			return err
		}
		lacks[serviceaccount.TokenKey] = base64Text([]byte(token))
	}
	if ca := base64Text(t.caBundle()); have.String(serviceaccount.CAKey) != ca {
		lacks[serviceaccount.CAKey] = ca
	}
	if have.String(serviceaccount.NamespaceKey) == "" {
		lacks[serviceaccount.NamespaceKey] = base64Text([]byte(account.Namespace))
	}
	if len(lacks) == 0 && secret.UID != "" {
		return nil
	}
	return reconcile.PatchIfUnchanged(ctx, t.store, t.secrets, o, "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{t.names.UID: account.UID}}, "data": lacks,
	})
}

// base64Text is how a Secret holds a value in JSON.
func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// removeSecretReference removes a deleted Secret from the account that references it.
func (t *Tokens) removeSecretReference(ctx context.Context, secret meta.Key) error {
	t.mu.Lock()
	of := t.owners[secret]
	t.mu.Unlock()
	if !of.gone {
		return nil
	}
	err := updateSecretReferences(ctx, t.store, t.accounts, of.account, func(secrets []any) []any {
		var rest []any
		for _, s := range secrets {
			if r, ok := s.(tree.Tree); !ok || r.String("name") != secret.Name {
				rest = append(rest, s)
			}
		}
		return rest
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && t.owners[secret].gone { // it was not created again in the meantime
		t.forget(secret)
	}
	return err
}

// updateSecretReferences changes the list of Secrets that an account references. It is no error if the
// account is deleted.
func updateSecretReferences(ctx context.Context, store Store, accounts *schema.Kind, key meta.Key, change func(secrets []any) []any) error {
	o, err := store.Get(ctx, request.Get{Kind: accounts, Key: key})
	if err != nil || o.Meta.Terminating {
		if reconcile.IsNotFound(err) {
			return nil
		}
		return err
	}
	object, err := codec.DecodeStored(accounts.Message(), o.JSON)
	if err != nil {
		return err
	}
	before := object.List("secrets")
	after := change(before)
	if len(after) == len(before) {
		return nil
	}
	return reconcile.PatchIfUnchanged(ctx, store, accounts, o, "", tree.Tree{"secrets": after})
}
