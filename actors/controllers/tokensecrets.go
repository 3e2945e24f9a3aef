package controllers

import (
	"bytes"
	"context"
	"math/rand/v2"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// TokenSecrets creates a token Secret for every service account that references none, and adds the
// reference to the account. Tokens then fills the Secret.
type TokenSecrets struct {
	*reconcile.Controller[meta.Key] // queue of accounts
	secrets, accounts               reconcile.Client
	names                           serviceaccount.SecretNames
}

// NewTokenSecrets returns a new TokenSecrets.
func NewTokenSecrets(env *Env) *TokenSecrets {
	t := &TokenSecrets{secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), names: serviceaccount.NewSecretNames(env.Naming)}
	t.Controller = reconcile.New(env, "", t.ensure, "cannot maintain the Secret of a service account", "key")
	t.Watch(t.accounts, reconcile.Updates(func(o *meta.Object) {
		if !o.Meta.Terminating {
			t.Add(o.Key)
		}
	}))
	return t
}

// ensure adds a reference to a token Secret to an account. It prefers an existing Secret of the
// account, because an earlier attempt may have failed to add the reference.
func (t *TokenSecrets) ensure(ctx context.Context, key meta.Key) error {
	o, object, err := t.accounts.Read(ctx, key)
	if err != nil || o == nil || o.Meta.Terminating {
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
		return reconcile.Except(err, reconcile.IsNamespaceTerminating)
	}
	references := append(object.List("secrets"), tree.Tree{"name": name})
	return t.accounts.Patch(ctx, o, "", tree.Tree{"secrets": references})
}

func (t *TokenSecrets) isSecretOf(ctx context.Context, account meta.Key, name string) (bool, error) {
	o, err := t.secrets.GetNamed(ctx, account.Namespace, name)
	return o != nil && t.belongsTo(o, account), err
}

func (t *TokenSecrets) belongsTo(o *meta.Object, account meta.Key) bool {
	of, ok := accountOf(t.names, t.secrets, o)
	return ok && of == account.Name && !o.Meta.Terminating
}

// secretOf returns the name of one of the account's token Secrets, or "". It decodes only Secrets
// that contain the account's name, because decoding the whole namespace would be slow.
func (t *TokenSecrets) secretOf(ctx context.Context, account meta.Key) (string, error) {
	all, err := t.secrets.List(ctx, request.List{Namespace: account.Namespace})
	quoted := []byte(`"` + account.Name + `"`)
	for _, o := range all {
		if bytes.Contains(o.JSON, quoted) && t.belongsTo(o, account) {
			return o.Key.Name, err
		}
	}
	return "", err
}

// suffixLetters are the characters of generated names. Vowels are excluded, so that names contain
// no words.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

func (t *TokenSecrets) createSecret(ctx context.Context, account *meta.Object) (string, error) {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = suffixLetters[rand.IntN(len(suffixLetters))]
	}
	name := account.Key.Name + "-token-" + string(suffix)
	_, err := t.secrets.Create(ctx, tree.Tree{
		"metadata": tree.Tree{
			"name": name, "namespace": account.Key.Namespace,
			"annotations": tree.Tree{t.names.Account: account.Key.Name, t.names.UID: account.Meta.UID},
		},
		"type": t.names.Type,
	})
	return name, err
}
