package controllers

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/certs"
)

// ExtensionTrust is what servers that extend the API need in order to believe whom this server vouches for.
type ExtensionTrust struct {
	// ClientCA are the authorities of client certificates, as PEM.
	ClientCA []byte
	// ProxyCA are those of the certificates behind which identity headers are to be believed, and AllowedNames the
	// common names of these certificates; none means any. Without ProxyCA nothing is said of headers.
	ProxyCA      []byte
	AllowedNames []string
	// The headers that name users.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraPrefixes []string
}

// ExtensionAuthentication keeps the ConfigMap from which servers that extend the API learn whom to believe. What other
// daemons on the same store, or earlier certificates, have put there stays, until its certificates have expired.
type ExtensionAuthentication struct {
	*Env
	maps  reconcile.Client
	key   meta.Key
	trust func() (ExtensionTrust, error)
	ready chan struct{} // closed after the first attempt
}

// extensionAuthenticationPeriod is the time between two looks at the ConfigMap.
const extensionAuthenticationPeriod = 10 * time.Second

// NewExtensionAuthentication returns the controller. trust is asked for what is to be in the ConfigMap now.
func NewExtensionAuthentication(env *Env, trust func() (ExtensionTrust, error)) *ExtensionAuthentication {
	maps := env.Core("ConfigMap").As(env.Translate("platform-apiserver"))
	return &ExtensionAuthentication{
		Env: env, maps: maps, key: maps.Key(env.SystemNamespace(), "extension-apiserver-authentication"), trust: trust, ready: make(chan struct{}),
	}
}

// Ready returns a channel that is closed when the ConfigMap is there, if it could be written.
func (e *ExtensionAuthentication) Ready() <-chan struct{} { return e.ready }

// Run runs the controller until the context ends.
//
// It looks from time to time, and watches nothing: a watch would have it read every ConfigMap for the sake of one.
func (e *ExtensionAuthentication) Run(ctx context.Context) {
	first := sync.OnceFunc(func() { close(e.ready) })
	reconcile.Every(ctx, extensionAuthenticationPeriod, func(ctx context.Context) {
		if err := e.sync(ctx); err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			e.Log.Warn("writing what extension servers are to trust", "error", err)
		}
		first()
	})
}

// sync brings the ConfigMap up to date.
func (e *ExtensionAuthentication) sync(ctx context.Context) error {
	trust, err := e.trust()
	if err != nil {
		return err
	}
	o, object, err := e.maps.Read(ctx, e.key)
	if err != nil {
		return err
	}
	before := object.Object("data")
	change := trust.data(before, time.Now())
	if o == nil {
		_, err := e.maps.Create(ctx, tree.Tree{"metadata": tree.Tree{"namespace": e.key.Namespace, "name": e.key.Name}, "data": change})
		return err
	}
	for key, value := range change {
		if before[key] == value {
			delete(change, key)
		}
	}
	if len(change) == 0 {
		return nil
	}
	return e.maps.Patch(ctx, o, "", tree.Tree{"data": change})
}

// data is what is to be in the ConfigMap in which there is before.
func (t ExtensionTrust) data(before tree.Tree, now time.Time) tree.Tree {
	data := tree.Tree{}
	bundle := func(key string, text []byte) {
		data[key] = string(certs.MergeBundles(now, []byte(before.String(key)), text))
	}
	list := func(key string, items []string) {
		if key == "requestheader-allowed-names" && len(items) == 0 {
			data[key] = "[]" // any name: a union would forbid what is allowed
			return
		}
		text, err := json.Marshal(union(before.String(key), items))
		if err != nil {
			panic(err) // texts always encode
		}
		data[key] = string(text)
	}
	bundle("client-ca-file", t.ClientCA)
	if len(t.ProxyCA) == 0 {
		return data
	}
	bundle("requestheader-client-ca-file", t.ProxyCA)
	list("requestheader-allowed-names", t.AllowedNames)
	list("requestheader-username-headers", t.UsernameHeaders)
	list("requestheader-uid-headers", t.UIDHeaders)
	list("requestheader-group-headers", t.GroupHeaders)
	list("requestheader-extra-headers-prefix", t.ExtraPrefixes)
	return data
}

// union are the items of a list in JSON, and more. A text that is no list has none.
func union(text string, more []string) []string {
	var items []string
	if json.Unmarshal([]byte(text), &items) != nil {
		items = nil
	}
	all := []string{}
	for _, item := range append(items, more...) {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}
