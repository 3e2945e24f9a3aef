package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServerAddress is the address at which clients inside the cluster reach the API.
type APIServerAddress struct {
	Service   meta.Key   // key of the Service
	ClusterIP netip.Addr // clusterIP of the Service
	IP        netip.Addr // of the daemon; the zero value if other machines cannot reach it
	Port      int
}

// APIServerService maintains the Service through which clients in the cluster find the API, with its
// Endpoints and EndpointSlice. The address does not change, but somebody may change the objects.
type APIServerService struct {
	store   Store
	kinds   *catalog.Catalog
	address APIServerAddress
	logger  *slog.Logger
}

// NewAPIServerService returns the controller for an address.
func NewAPIServerService(store Store, kinds *catalog.Catalog, at APIServerAddress, logger *slog.Logger) *APIServerService {
	return &APIServerService{store: store, kinds: kinds, address: at, logger: logger}
}

// Run repairs the objects when they change, until the context ends. It follows only objects of their name.
func (a *APIServerService) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	queue := reconcile.NewWorkqueue[string]()
	follow := func(group, kind string) {
		if k := a.kind(group, kind); k != nil {
			running.Go(func() {
				reconcile.RunNamedInformer(ctx, a.store, k, a.address.Service.Name, reconcile.EventHandlerFunc(func(e reconcile.Event) {
					if e.Key.Namespace == a.address.Service.Namespace {
						queue.Add(a.address.Service.Name)
					}
				}))
			})
		}
	}
	follow("", "Service")
	if a.address.IP.IsValid() {
		follow("", "Endpoints")
		follow(a.kinds.Naming().Group("discovery"), "EndpointSlice")
	}
	queue.Run(ctx, func(ctx context.Context, _ string) error { return a.Ensure(ctx) }, func(_ string, err error) {
		a.logger.Warn("keeping the service of the API", "error", err)
	})
}

// Ensure creates the objects that are missing and corrects those that differ.
func (a *APIServerService) Ensure(ctx context.Context) error {
	faults := []error{a.ensure(ctx, "", "Service", a.service())}
	if a.address.IP.IsValid() {
		n := a.kinds.Naming()
		faults = append(faults,
			a.ensure(ctx, "", "Endpoints", a.endpoints()),
			a.ensure(ctx, n.Group("discovery"), "EndpointSlice", a.slice()))
	}
	return errors.Join(faults...)
}

// ensure brings the object of a kind, named like the Service, to the state in body. Fields that body
// does not set keep their values. Immutable fields cannot be patched, so an object for which the patch
// is invalid is deleted and created again.
func (a *APIServerService) ensure(ctx context.Context, group, kind string, body tree.Tree) error {
	k := a.kind(group, kind)
	if k == nil {
		return nil // the group is disabled
	}
	key := meta.Key{GroupResource: k.Storage, Namespace: a.address.Service.Namespace, Name: a.address.Service.Name}
	patch, err := json.Marshal(body)
	if err != nil {
		return err
	}
	do := func(m request.Mutation) error {
		m.Kind, m.Key = k, key
		_, err := a.store.Mutate(ctx, m)
		return err
	}
	err = do(request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: patch}})
	if reconcile.IsInvalid(err) {
		if err := do(request.Mutation{Change: request.Delete{}}); err != nil {
			return err
		}
	} else if !reconcile.IsNotFound(err) {
		return err
	}
	return do(request.Mutation{Change: request.Create{Object: body}})
}

// kind returns the storage version of a kind; nil if it is disabled.
func (a *APIServerService) kind(group, name string) *schema.Kind {
	for _, k := range a.kinds.StorageKinds() {
		if k.Group == group && k.Kind == name {
			return k
		}
	}
	return nil
}

// service is the desired Service by which Pods reach the server. It has no selector, since no Pod is behind it.
func (a *APIServerService) service() tree.Tree {
	return tree.Tree{
		"metadata": a.metadata(tree.Tree{"component": "apiserver", "provider": a.address.Service.Name}),
		"spec": tree.Tree{
			"type": "ClusterIP", "clusterIP": a.address.ClusterIP.String(), "sessionAffinity": "None",
			"ports": []any{tree.Tree{"name": "https", "protocol": "TCP", "port": int64(443), "targetPort": int64(a.address.Port)}},
		},
	}
}

// endpoints is the desired Endpoints object. Its label keeps it from being mirrored into EndpointSlices, of which the
// server writes its own.
func (a *APIServerService) endpoints() tree.Tree {
	return tree.Tree{
		"metadata": a.metadata(tree.Tree{a.kinds.Naming().Translate("endpointslice.platform.io/skip-mirror"): "true"}),
		"subsets": []any{tree.Tree{
			"addresses": []any{tree.Tree{"ip": a.address.IP.String()}},
			"ports":     []any{a.port()},
		}},
	}
}

// slice is the desired EndpointSlice. A slice has addresses of one family only, which is that of the address.
func (a *APIServerService) slice() tree.Tree {
	family := "IPv4"
	if a.address.IP.Is6() {
		family = "IPv6"
	}
	return tree.Tree{
		"metadata":    a.metadata(tree.Tree{a.kinds.Naming().Translate("platform.io/service-name"): a.address.Service.Name}),
		"addressType": family,
		"endpoints": []any{tree.Tree{
			"addresses": []any{a.address.IP.String()}, "conditions": tree.Tree{"ready": true},
		}},
		"ports": []any{a.port()},
	}
}

// port is the endpoint port on which the daemon listens.
func (a *APIServerService) port() tree.Tree {
	return tree.Tree{"name": "https", "protocol": "TCP", "port": int64(a.address.Port)}
}

// metadata is that of all three objects: they have the same name and namespace.
func (a *APIServerService) metadata(labels tree.Tree) tree.Tree {
	return tree.Tree{"name": a.address.Service.Name, "namespace": a.address.Service.Namespace, "labels": labels}
}
