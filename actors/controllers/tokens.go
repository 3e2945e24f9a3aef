package controllers

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// Tokens fills Secrets that are to hold a token of a service account, and deletes them when the
// account has gone. A Secret that goes is taken out of the account that names it.
type Tokens struct {
	store             Store
	secrets, accounts *schema.Kind
	names             tokenNames
	issuer            *serviceaccount.Issuer
	trust             func() []byte // PEM: what clients are to trust
	logger            *slog.Logger

	waiting *backlog[meta.Key]             // Secrets
	mu      sync.Mutex                     // guards the next two
	of      map[meta.Key]tokenOf           // what Secrets are for
	held    map[meta.Key]map[meta.Key]bool // the Secrets of an account
}

// tokenOf is the account that a Secret names, or named when it went.
type tokenOf struct {
	account meta.Key
	gone    bool
}

// tokenNames are the names that such Secrets bear.
type tokenNames struct{ kind, account, uid string }

func newTokenNames(n *meta.Naming) tokenNames {
	return tokenNames{n.Name(serviceaccount.SecretType), n.Name(serviceaccount.AccountAnnotation), n.Name(serviceaccount.UIDAnnotation)}
}

// NewTokens makes the controller for the kinds of a catalogue. Issuer signs the tokens.
func NewTokens(store Store, kinds *catalog.Catalog, issuer *serviceaccount.Issuer, trust func() []byte, logger *slog.Logger) *Tokens {
	return &Tokens{
		store: store, names: newTokenNames(kinds.Naming()), issuer: issuer, trust: trust, logger: logger,
		secrets:  core(kinds, "Secret"),
		accounts: core(kinds, "ServiceAccount"),
		waiting:  newBacklog[meta.Key](), of: map[meta.Key]tokenOf{}, held: map[meta.Key]map[meta.Key]bool{},
	}
}

// Run works until the context ends.
func (t *Tokens) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { Follow(ctx, t.store, t.secrets, observer(t.seeSecret)) })
	running.Go(func() { Follow(ctx, t.store, t.accounts, observer(t.seeAccount)) })
	t.waiting.serve(ctx, t.care, func(key meta.Key, err error) {
		t.logger.Warn("a secret lacks its token", "key", key.String(), "error", err)
	})
}

func (t *Tokens) seeSecret(o *meta.Object, gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if gone {
		if of, known := t.of[o.Key]; known {
			t.of[o.Key] = tokenOf{of.account, true}
			t.waiting.add(o.Key)
		}
		return
	}
	account, ok := t.names.accountOf(t.secrets, o)
	if !ok {
		return
	}
	secret := own(o.Key)
	key := own(meta.Key{GroupResource: t.accounts.Storage, Namespace: secret.Namespace, Name: account})
	t.forget(secret)
	t.of[secret] = tokenOf{account: key}
	if t.held[key] == nil {
		t.held[key] = map[meta.Key]bool{}
	}
	t.held[key][secret] = true
	t.waiting.add(secret)
}

// forget must be called with the lock held.
func (t *Tokens) forget(secret meta.Key) {
	of, known := t.of[secret]
	if !known {
		return
	}
	delete(t.of, secret)
	if delete(t.held[of.account], secret); len(t.held[of.account]) == 0 {
		delete(t.held, of.account)
	}
}

func (t *Tokens) seeAccount(o *meta.Object, _ bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for secret := range t.held[o.Key] {
		t.waiting.add(secret)
	}
}

// accountOf is the account that a Secret names; ok is false for Secrets of other types.
func (n tokenNames) accountOf(k *schema.Kind, o *meta.Object) (account string, ok bool) {
	if !bytes.Contains(o.JSON, []byte(n.kind)) { // most are of other types
		return "", false
	}
	tree, err := codec.DecodeStored(k.Message, o.JSON)
	if err != nil || rules.Text(tree, "type") != n.kind {
		return "", false
	}
	account = rules.Text(rules.Sub(tree, "metadata", "annotations"), n.account)
	return account, account != ""
}

// care brings one Secret to where it should be.
func (t *Tokens) care(ctx context.Context, key meta.Key) error {
	o, err := t.store.Get(ctx, request.Get{Kind: t.secrets, Key: key})
	switch {
	case gone(err):
		return t.unname(ctx, key)
	case err != nil || o.Head.Terminating:
		return err
	}
	tree, err := codec.DecodeStored(t.secrets.Message, o.JSON)
	if err != nil {
		return err
	}
	annotations := rules.Sub(tree, "metadata", "annotations")
	account := serviceaccount.Account{Namespace: key.Namespace, Name: rules.Text(annotations, t.names.account)}
	head, err := t.store.Get(ctx, request.Get{Kind: t.accounts, Key: meta.Key{GroupResource: t.accounts.Storage, Namespace: key.Namespace, Name: account.Name}})
	if err != nil && !gone(err) {
		return err
	}
	uid := rules.Text(annotations, t.names.uid)
	if err != nil || uid != "" && uid != head.Head.UID {
		return remove(ctx, t.store, t.secrets, o, "")
	}
	account.UID = head.Head.UID
	return t.fill(ctx, o, tree, account)
}

// fill writes into a Secret what it lacks.
func (t *Tokens) fill(ctx context.Context, o *meta.Object, tree schema.Tree, account serviceaccount.Account) error {
	have, lacks := rules.Sub(tree, "data"), schema.Tree{}
	if rules.Text(have, serviceaccount.TokenKey) == "" {
		token, err := t.issuer.Legacy(account, o.Key.Name)
		if err != nil {
			return err
		}
		lacks[serviceaccount.TokenKey] = encoded([]byte(token))
	}
	if ca := encoded(t.trust()); rules.Text(have, serviceaccount.CAKey) != ca {
		lacks[serviceaccount.CAKey] = ca
	}
	if rules.Text(have, serviceaccount.NamespaceKey) == "" {
		lacks[serviceaccount.NamespaceKey] = encoded([]byte(account.Namespace))
	}
	if len(lacks) == 0 && rules.Text(rules.Sub(tree, "metadata", "annotations"), t.names.uid) != "" {
		return nil
	}
	err := amend(ctx, t.store, t.secrets, o, "", schema.Tree{
		"metadata": schema.Tree{"annotations": schema.Tree{t.names.uid: account.UID}}, "data": lacks,
	})
	if invalid(err) { // as it is when it is immutable: to try again is of no use
		t.logger.Warn("a secret cannot hold its token", "key", o.Key.String(), "error", err)
		return nil
	}
	return err
}

func encoded(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// unname takes a Secret that has gone out of the account that names it.
func (t *Tokens) unname(ctx context.Context, secret meta.Key) error {
	t.mu.Lock()
	of := t.of[secret]
	t.mu.Unlock()
	if !of.gone {
		return nil
	}
	err := refer(ctx, t.store, t.accounts, of.account, func(secrets []any) []any {
		var rest []any
		for _, s := range secrets {
			if r, ok := s.(schema.Tree); !ok || rules.Text(r, "name") != secret.Name {
				rest = append(rest, s)
			}
		}
		return rest
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && t.of[secret].gone { // and has not come back meanwhile
		t.forget(secret)
	}
	return err
}

// refer changes which Secrets an account names. That it has gone is no error.
func refer(ctx context.Context, store Store, accounts *schema.Kind, key meta.Key, change func(secrets []any) []any) error {
	o, err := store.Get(ctx, request.Get{Kind: accounts, Key: key})
	if err != nil || o.Head.Terminating {
		if gone(err) {
			return nil
		}
		return err
	}
	tree, err := codec.DecodeStored(accounts.Message, o.JSON)
	if err != nil {
		return err
	}
	before := rules.Items(tree, "secrets")
	after := change(before)
	if len(after) == len(before) {
		return nil
	}
	return amend(ctx, store, accounts, o, "", schema.Tree{"secrets": after})
}
