package tokens

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

// SecretCreator creates a token Secret for every service account that references none, and adds a
// reference to the account. SecretFiller then fills in the Secret.
type SecretCreator struct {
	*reconcile.Controller[meta.Key] // queue of accounts
	secrets, accounts               reconcile.Client
	names                           serviceaccount.SecretNames
}

func NewSecretCreator(env *reconcile.Env) *SecretCreator {
	c := &SecretCreator{secrets: env.Core("Secret"), accounts: env.Core("ServiceAccount"), names: serviceaccount.NewSecretNames(env.Naming)}
	c.Controller = reconcile.New(env, "", c.ensure, "cannot maintain the Secret of a service account", "key")
	c.Watch(c.accounts, reconcile.Updates(func(o *meta.Object) {
		if !o.Meta.Terminating {
			c.Add(o.Key)
		}
	}))
	return c
}

// ensure adds a reference to a token Secret to an account. It prefers an existing Secret, because
// an earlier attempt may have failed to add the reference.
func (c *SecretCreator) ensure(ctx context.Context, key meta.Key) error {
	o, object, err := c.accounts.Read(ctx, key)
	if err != nil || o == nil || o.Meta.Terminating {
		return err
	}
	for _, s := range object.Objects("secrets") {
		if has, err := c.isSecretOf(ctx, key, s.String("name")); has || err != nil {
			return err
		}
	}
	name, err := c.secretOf(ctx, key)
	if err == nil && name == "" {
		name, err = c.createSecret(ctx, o)
	}
	if err != nil {
		return reconcile.Except(err, reconcile.IsNamespaceTerminating)
	}
	references := append(object.List("secrets"), tree.Tree{"name": name})
	return c.accounts.Patch(ctx, o, "", tree.Tree{"secrets": references})
}

func (c *SecretCreator) isSecretOf(ctx context.Context, account meta.Key, name string) (bool, error) {
	o, err := c.secrets.GetNamed(ctx, account.Namespace, name)
	return o != nil && c.belongsTo(o, account), err
}

func (c *SecretCreator) belongsTo(o *meta.Object, account meta.Key) bool {
	of, ok := accountOf(c.names, c.secrets, o)
	return ok && of == account.Name && !o.Meta.Terminating
}

// secretOf returns the name of one of the account's token Secrets, or "". It decodes only Secrets
// that contain the account's name, because decoding the whole namespace would be slow.
func (c *SecretCreator) secretOf(ctx context.Context, account meta.Key) (string, error) {
	all, err := c.secrets.List(ctx, request.List{Namespace: account.Namespace})
	quoted := []byte(`"` + account.Name + `"`)
	for _, o := range all {
		if bytes.Contains(o.JSON, quoted) && c.belongsTo(o, account) {
			return o.Key.Name, err
		}
	}
	return "", err
}

// suffixLetters are the characters of generated names. They exclude vowels, to avoid words.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

func (c *SecretCreator) createSecret(ctx context.Context, account *meta.Object) (string, error) {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = suffixLetters[rand.IntN(len(suffixLetters))]
	}
	name := account.Key.Name + "-token-" + string(suffix)
	_, err := c.secrets.Create(ctx, tree.Tree{
		"metadata": tree.Tree{
			"name": name, "namespace": account.Key.Namespace,
			"annotations": tree.Tree{c.names.Account: account.Key.Name, c.names.UID: account.Meta.UID},
		},
		"type": c.names.Type,
	})
	return name, err
}
