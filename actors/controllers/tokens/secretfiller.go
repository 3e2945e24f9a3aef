package tokens

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

// SecretFiller writes the token, the CA and the namespace to service account token Secrets. It
// deletes a Secret when its account is deleted, and an account's reference to a Secret when the
// Secret is deleted.
type SecretFiller struct {
	*reconcile.Controller[meta.Key] // queue of Secrets
	secrets, accounts               reconcile.Client
	names                           serviceaccount.SecretNames
	issuer                          *serviceaccount.Issuer
	caBundle                        func() []byte

	mu               sync.Mutex // guards owners and secretsByAccount
	owners           map[meta.Key]tokenOwner
	secretsByAccount reconcile.Index[meta.Key, meta.Key, bool]
}

// tokenOwner is the service account to which a token Secret belongs. After the Secret is deleted,
// gone is set, and the entry is kept until the account no longer references the Secret.
type tokenOwner struct {
	account meta.Key
	gone    bool
}

// NewSecretFiller returns a new SecretFiller that signs tokens with issuer. caBundle returns the CA
// as PEM.
func NewSecretFiller(env *reconcile.Env, issuer *serviceaccount.Issuer, caBundle func() []byte) *SecretFiller {
	f := &SecretFiller{
		secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), names: serviceaccount.NewSecretNames(env.Naming), issuer: issuer, caBundle: caBundle,
		owners: map[meta.Key]tokenOwner{}, secretsByAccount: reconcile.Index[meta.Key, meta.Key, bool]{},
	}
	f.Controller = reconcile.New(env, "serviceaccount_tokens_service", f.sync, "cannot maintain the token of a Secret", "key")
	f.Watch(f.secrets, f.onSecret)
	f.Watch(f.accounts, f.onAccount)
	return f
}

// onSecret updates owners and secretsByAccount. A deleted Secret stays in owners until it is
// processed, because no other record of its account exists.
func (f *SecretFiller) onSecret(e reconcile.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Deleted {
		if of, known := f.owners[e.Key]; known {
			f.owners[e.Key] = tokenOwner{of.account, true}
			f.Add(e.Key)
		}
		return
	}
	account, ok := accountOf(f.names, f.secrets, e.Object)
	if !ok {
		return
	}
	secret, key := e.Key, f.accounts.Key(e.Key.Namespace, account).Clone()
	f.forget(secret)
	f.owners[secret] = tokenOwner{account: key}
	f.secretsByAccount.Put(key, secret, true)
	f.Add(secret)
}

// forget must be called with mu held.
func (f *SecretFiller) forget(secret meta.Key) {
	of, known := f.owners[secret]
	if !known {
		return
	}
	delete(f.owners, secret)
	f.secretsByAccount.Delete(of.account, secret)
}

// onAccount enqueues the Secrets of an account. mu is taken before the queue's lock, as in
// onSecret.
func (f *SecretFiller) onAccount(e reconcile.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for secret := range f.secretsByAccount[e.Key] {
		f.Add(secret)
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

// sync fills a Secret, or deletes it if its account does not exist. If the Secret was deleted, sync
// removes the account's reference to it.
func (f *SecretFiller) sync(ctx context.Context, key meta.Key) error {
	o, object, err := f.secrets.Read(ctx, key)
	switch {
	case err != nil:
		return err
	case o == nil:
		return f.removeSecretReference(ctx, key)
	case o.Meta.Terminating:
		return nil
	}
	secret, ok := f.names.Read(object)
	if !ok {
		return nil
	}
	account := serviceaccount.Account{Namespace: key.Namespace, Name: secret.Account}
	head, err := f.accounts.GetNamed(ctx, key.Namespace, account.Name)
	if err != nil {
		return err
	}
	if head == nil || secret.UID != "" && secret.UID != head.Meta.UID {
		return f.secrets.Delete(ctx, o)
	}
	account.UID = head.Meta.UID
	err = f.fill(ctx, o, secret, account)
	if reconcile.IsImmutable(err, object) {
		f.Log.Warn("cannot store a token in a Secret", "key", o.Key.String(), "error", err)
		return nil
	}
	return err
}

// fill writes missing data to a Secret and updates a changed CA. It never replaces a token.
func (f *SecretFiller) fill(ctx context.Context, o *meta.Object, secret serviceaccount.TokenSecret, account serviceaccount.Account) error {
	have, lacks := secret.Data, tree.Tree{}
	if have.String(serviceaccount.TokenKey) == "" {
		token, err := f.issuer.SignLegacy(account, o.Key.Name)
		if err != nil {
			return err
		}
		lacks[serviceaccount.TokenKey] = base64Text([]byte(token))
	}
	if ca := base64Text(f.caBundle()); have.String(serviceaccount.CAKey) != ca {
		lacks[serviceaccount.CAKey] = ca
	}
	if have.String(serviceaccount.NamespaceKey) == "" {
		lacks[serviceaccount.NamespaceKey] = base64Text([]byte(account.Namespace))
	}
	if len(lacks) == 0 && secret.UID != "" {
		return nil
	}
	return f.secrets.Patch(ctx, o, "", tree.Tree{
		"metadata": tree.Tree{"annotations": tree.Tree{f.names.UID: account.UID}}, "data": lacks,
	})
}

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (f *SecretFiller) removeSecretReference(ctx context.Context, secret meta.Key) error {
	f.mu.Lock()
	of := f.owners[secret]
	f.mu.Unlock()
	if !of.gone {
		return nil
	}
	err := f.removeReference(ctx, of.account, secret.Name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.owners[secret].gone { // not recreated in the meantime
		f.forget(secret)
	}
	return err
}

func (f *SecretFiller) removeReference(ctx context.Context, account meta.Key, secret string) error {
	o, object, err := f.accounts.Read(ctx, account)
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
	return f.accounts.Patch(ctx, o, "", tree.Tree{"secrets": after})
}
