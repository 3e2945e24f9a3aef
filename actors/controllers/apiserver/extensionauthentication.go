package apiserver

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

// ExtensionTrust holds the authentication settings with which extension API servers trust this
// server.
type ExtensionTrust struct {
	// ClientCA holds the client CAs in PEM.
	ClientCA []byte
	// ProxyCA holds the CAs of trusted front proxies. AllowedNames are the allowed common names of
	// their certificates. An empty list allows any name. Without ProxyCA, the ConfigMap has no
	// header names.
	ProxyCA      []byte
	AllowedNames []string
	// Headers in which front proxies send user attributes.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraPrefixes []string
}

// ExtensionAuthentication maintains the ConfigMap from which extension API servers read their
// authentication settings. CA certificates written by other servers or earlier runs are kept until
// they expire.
type ExtensionAuthentication struct {
	*reconcile.Env
	maps  reconcile.Client
	key   meta.Key
	trust func() (ExtensionTrust, error)
	ready chan struct{} // closed after the first attempt
}

const extensionAuthenticationPeriod = 10 * time.Second

// NewExtensionAuthentication returns a new ExtensionAuthentication. trust returns the current
// settings.
func NewExtensionAuthentication(env *reconcile.Env, trust func() (ExtensionTrust, error)) *ExtensionAuthentication {
	maps := env.Core("ConfigMap").As(env.Translate("platform-apiserver"))
	return &ExtensionAuthentication{
		Env: env, maps: maps, key: maps.Key(env.SystemNamespace(), "extension-apiserver-authentication"), trust: trust, ready: make(chan struct{}),
	}
}

// Ready returns a channel that is closed after the first attempt to write the ConfigMap.
func (e *ExtensionAuthentication) Ready() <-chan struct{} { return e.ready }

// Run runs the controller until ctx is done. It polls the ConfigMap, because a watch would read
// every ConfigMap.
func (e *ExtensionAuthentication) Run(ctx context.Context) {
	first := sync.OnceFunc(func() { close(e.ready) })
	reconcile.Every(ctx, extensionAuthenticationPeriod, func(ctx context.Context) {
		if err := e.sync(ctx); err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			e.Log.Warn("cannot publish the authentication configuration for extension servers", "error", err)
		}
		first()
	})
}

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

func (t ExtensionTrust) data(before tree.Tree, now time.Time) tree.Tree {
	data := tree.Tree{}
	bundle := func(key string, text []byte) {
		data[key] = string(certs.MergeBundles(now, []byte(before.String(key)), text))
	}
	list := func(key string, items []string) {
		if key == "requestheader-allowed-names" && len(items) == 0 {
			data[key] = "[]" // allows any name, which a union would restrict
			return
		}
		text, err := json.Marshal(union(before.String(key), items))
		if err != nil {
			panic(err) // strings always encode
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
