package controllers

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
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
	store   Store
	kind    *schema.Kind
	key     meta.Key
	manager string // field manager
	trust   func() (ExtensionTrust, error)
	ready   chan struct{} // closed after the first look
	logger  *slog.Logger
}

// extensionAuthenticationPeriod is the time between two looks at the ConfigMap.
const extensionAuthenticationPeriod = 10 * time.Second

// NewExtensionAuthentication returns the controller. trust is asked for what is to be in the ConfigMap now.
func NewExtensionAuthentication(store Store, kinds *catalog.Catalog, trust func() (ExtensionTrust, error), logger *slog.Logger) *ExtensionAuthentication {
	k, n := reconcile.CoreKind(kinds, "ConfigMap"), kinds.Naming()
	return &ExtensionAuthentication{
		store: store, kind: k, trust: trust, logger: logger, ready: make(chan struct{}), manager: n.Translate("platform-apiserver"),
		key: meta.Key{GroupResource: k.Storage, Namespace: n.SystemNamespace(), Name: "extension-apiserver-authentication"},
	}
}

// Ready returns a channel that is closed when the ConfigMap is there, if it could be written.
func (e *ExtensionAuthentication) Ready() <-chan struct{} { return e.ready }

// Run runs the controller until the context ends.
//
// It looks from time to time, and watches nothing: a watch would have it read every ConfigMap for the sake of one.
func (e *ExtensionAuthentication) Run(ctx context.Context) {
	tick := time.NewTicker(extensionAuthenticationPeriod)
	defer tick.Stop()
	for first := true; ; first = false {
		if err := e.sync(ctx); err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			e.logger.Warn("writing what extension servers are to trust", "error", err)
		}
		if first {
			close(e.ready)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sync brings the ConfigMap up to date.
func (e *ExtensionAuthentication) sync(ctx context.Context) error {
	trust, err := e.trust()
	if err != nil {
		return err
	}
	o, err := e.store.Get(ctx, request.Get{Kind: e.kind, Key: e.key})
	if reconcile.IsNotFound(err) {
		_, err := e.store.Mutate(ctx, request.Mutation{
			Kind: e.kind, Key: e.key, FieldManager: e.manager,
			Change: request.Create{Object: tree.Tree{
				"metadata": tree.Tree{"namespace": e.key.Namespace, "name": e.key.Name}, "data": trust.data(tree.Tree{}, time.Now()),
			}},
		})
		return err
	}
	if err != nil {
		return err
	}
	object, err := codec.DecodeStored(e.kind.Message(), o.JSON)
	if err != nil {
		return err
	}
	before := object.Object("data")
	change := trust.data(before, time.Now())
	for key, value := range change {
		if before[key] == value {
			delete(change, key)
		}
	}
	if len(change) == 0 {
		return nil
	}
	return reconcile.PatchAs(ctx, e.store, e.manager, e.kind, o, "", tree.Tree{"data": change})
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
