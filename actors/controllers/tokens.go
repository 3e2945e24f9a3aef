package controllers

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// Tokens writes the token, the CA and the namespace to service account token Secrets. It deletes a
// Secret when its account is deleted. When a Secret is deleted, it removes the account's reference
// to the Secret.
type Tokens struct {
	*reconcile.Controller[meta.Key] // queue of Secrets
	secrets, accounts               reconcile.Client
	names                           serviceaccount.SecretNames
	issuer                          *serviceaccount.Issuer
	caBundle                        func() []byte

	mu               sync.Mutex // guards owners and secretsByAccount
	owners           map[meta.Key]tokenOwner
	secretsByAccount reconcile.Index[meta.Key, meta.Key, bool]
}

// tokenOwner is the service account to which a token Secret belongs. If the Secret has been
// deleted, gone is set, and the entry stays until the account no longer references the Secret.
type tokenOwner struct {
	account meta.Key
	gone    bool
}

// NewTokens returns a new Tokens that signs tokens with issuer. caBundle returns the CA as PEM.
func NewTokens(env *Env, issuer *serviceaccount.Issuer, caBundle func() []byte) *Tokens {
	t := &Tokens{
		secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), names: serviceaccount.NewSecretNames(env.Naming), issuer: issuer, caBundle: caBundle,
		owners: map[meta.Key]tokenOwner{}, secretsByAccount: reconcile.Index[meta.Key, meta.Key, bool]{},
	}
	t.Controller = reconcile.New(env, "serviceaccount_tokens_service", t.sync, "cannot maintain the token of a Secret", "key")
	t.Watch(t.secrets, t.onSecret)
	t.Watch(t.accounts, t.onAccount)
	return t
}

// onSecret updates owners and secretsByAccount. A deleted Secret stays in owners until it is
// processed, because its account is recorded nowhere else.
func (t *Tokens) onSecret(e reconcile.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Deleted {
		if of, known := t.owners[e.Key]; known {
			t.owners[e.Key] = tokenOwner{of.account, true}
			t.Add(e.Key)
		}
		return
	}
	account, ok := accountOf(t.names, t.secrets, e.Object)
	if !ok {
		return
	}
	secret, key := e.Key, t.accounts.Key(e.Key.Namespace, account).Clone()
	t.forget(secret)
	t.owners[secret] = tokenOwner{account: key}
	t.secretsByAccount.Put(key, secret, true)
	t.Add(secret)
}

// forget must be called with mu held.
func (t *Tokens) forget(secret meta.Key) {
	of, known := t.owners[secret]
	if !known {
		return
	}
	delete(t.owners, secret)
	t.secretsByAccount.Delete(of.account, secret)
}

// onAccount enqueues the Secrets of an account. Lock order: mu is taken before the queue's lock, as
// in onSecret.
func (t *Tokens) onAccount(e reconcile.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for secret := range t.secretsByAccount[e.Key] {
		t.Add(secret)
	}
}

func accountOf(n serviceaccount.SecretNames, secrets reconcile.Client, o *meta.Object) (account string, ok bool) {
	if !bytes.Contains(o.JSON, []byte(n.Type)) { // most Secrets have other types: do not decode them
		return "", false
	}
	object, err := secrets.Decode(o)
	if err != nil {
		return "", false
	}
	secret, ok := n.Read(object)
	return secret.Account, ok && secret.Account != ""
}

// sync fills a Secret whose account exists. If the account does not exist, sync deletes the Secret.
// If the Secret has been deleted, sync removes the account's reference to it.
func (t *Tokens) sync(ctx context.Context, key meta.Key) error {
	o, object, err := t.secrets.Read(ctx, key)
	switch {
	case err != nil:
		return err
	case o == nil:
		return t.removeSecretReference(ctx, key)
	case o.Meta.Terminating:
		return nil
	}
	secret, ok := t.names.Read(object)
	if !ok {
		return nil
	}
	account := serviceaccount.Account{Namespace: key.Namespace, Name: secret.Account}
	head, err := t.accounts.GetNamed(ctx, key.Namespace, account.Name)
	if err != nil {
		return err
	}
	if head == nil || secret.UID != "" && secret.UID != head.Meta.UID {
		return t.secrets.Delete(ctx, o)
	}
	account.UID = head.Meta.UID
	err = t.fill(ctx, o, secret, account)
	if reconcile.IsImmutable(err, object) {
		t.Log.Warn("cannot store a token in a Secret", "key", o.Key.String(), "error", err)
		return nil
	}
	return err
}

// fill writes missing data to a Secret and updates a changed CA. It never replaces a token.
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
	return t.secrets.Patch(ctx, o, "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{t.names.UID: account.UID}}, "data": lacks,
	})
}

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (t *Tokens) removeSecretReference(ctx context.Context, secret meta.Key) error {
	t.mu.Lock()
	of := t.owners[secret]
	t.mu.Unlock()
	if !of.gone {
		return nil
	}
	err := t.removeReference(ctx, of.account, secret.Name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && t.owners[secret].gone { // it was not recreated meanwhile
		t.forget(secret)
	}
	return err
}

func (t *Tokens) removeReference(ctx context.Context, account meta.Key, secret string) error {
	o, object, err := t.accounts.Read(ctx, account)
	if err != nil || o == nil || o.Meta.Terminating {
		return err
	}
	before := object.List("secrets")
	after := slices.DeleteFunc(slices.Clone(before), func(s any) bool {
		r, ok := s.(tree.Tree)
		return ok && r.String("name") == secret
	})
	if len(after) == len(before) {
		return nil
	}
	return t.accounts.Patch(ctx, o, "", tree.Tree{"secrets": after})
}
