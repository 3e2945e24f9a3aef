package controllers

import (
	"context"
	"errors"
	"net/netip"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServerAddress is the address at which clients inside the cluster reach the API.
type APIServerAddress struct {
	Service   meta.Key   // key of the Service
	ClusterIP netip.Addr // clusterIP of the Service
	IP        netip.Addr // of the daemon; the zero value if other machines cannot reach it
	Port      int
}

// APIServerService maintains the Service through which clients in the cluster reach the API, with
// its Endpoints and EndpointSlice. It reverts changes that other clients make to these objects.
type APIServerService struct {
	*reconcile.Controller[string]
	address                     APIServerAddress
	services, endpoints, slices reconcile.Client
}

// NewAPIServerService returns a controller that publishes the given address.
func NewAPIServerService(env *Env, at APIServerAddress) *APIServerService {
	a := &APIServerService{
		address: at, services: env.Core("Service"), endpoints: env.Core("Endpoints"), slices: env.Client("discovery.platform.io", "v1", "EndpointSlice"),
	}
	a.Controller = reconcile.New(env, "", func(ctx context.Context, _ string) error { return a.Ensure(ctx) }, "", "")
	a.Failed = func(_ string, err error) { env.Log.Warn("cannot maintain the API Service", "error", err) }
	kinds := []reconcile.Client{a.services}
	if at.IP.IsValid() {
		kinds = append(kinds, a.endpoints, a.slices)
	}
	for _, k := range kinds {
		a.Watch(k, func(e reconcile.Event) {
			if e.Key.Namespace == at.Service.Namespace {
				a.Add(at.Service.Name)
			}
		}).Name = at.Service.Name
	}
	return a
}

// Ensure creates the Service, its Endpoints and its EndpointSlice if they are missing, and corrects
// them if they differ from the desired state.
func (a *APIServerService) Ensure(ctx context.Context) error {
	faults := []error{a.ensure(ctx, a.services, a.service())}
	if a.address.IP.IsValid() {
		faults = append(faults, a.ensure(ctx, a.endpoints, a.wantedEndpoints()), a.ensure(ctx, a.slices, a.slice()))
	}
	return errors.Join(faults...)
}

// ensure creates or patches the Service, its Endpoints or its EndpointSlice. Fields that body does
// not set keep their values. If the patch fails because a field is immutable, the object is deleted
// and created again.
func (a *APIServerService) ensure(ctx context.Context, k reconcile.Client, body tree.Tree) error {
	if k.Kind == nil {
		return nil // the group is disabled
	}
	key := k.Key(a.address.Service.Namespace, a.address.Service.Name)
	_, err := k.PatchExisting(ctx, &meta.Object{Key: key}, "", body)
	if reconcile.IsInvalid(err) {
		if err := k.DeleteKey(ctx, key, request.Delete{}); err != nil {
			return err
		}
	} else if !reconcile.IsNotFound(err) {
		return err
	}
	_, err = k.Create(ctx, body)
	return err
}

// service returns the desired Service. It has no selector, because no Pod backs it.
func (a *APIServerService) service() tree.Tree {
	return tree.Tree{
		"metadata": a.metadata(tree.Tree{"component": "apiserver", "provider": a.address.Service.Name}),
		"spec": tree.Tree{
			"type": "ClusterIP", "clusterIP": a.address.ClusterIP.String(), "sessionAffinity": "None",
			"ports": []any{tree.Tree{"name": "https", "protocol": "TCP", "port": int64(443), "targetPort": int64(a.address.Port)}},
		},
	}
}

// wantedEndpoints returns the desired Endpoints. The label prevents mirroring into an
// EndpointSlice, because this controller writes its own.
func (a *APIServerService) wantedEndpoints() tree.Tree {
	return tree.Tree{
		"metadata": a.metadata(tree.Tree{a.Translate("endpointslice.platform.io/skip-mirror"): "true"}),
		"subsets": []any{tree.Tree{
			"addresses": []any{tree.Tree{"ip": a.address.IP.String()}},
			"ports":     []any{a.port()},
		}},
	}
}

func (a *APIServerService) slice() tree.Tree {
	family := "IPv4"
	if a.address.IP.Is6() {
		family = "IPv6"
	}
	return tree.Tree{
		"metadata":    a.metadata(tree.Tree{a.Translate("platform.io/service-name"): a.address.Service.Name}),
		"addressType": family,
		"endpoints": []any{tree.Tree{
			"addresses": []any{a.address.IP.String()}, "conditions": tree.Tree{"ready": true},
		}},
		"ports": []any{a.port()},
	}
}

func (a *APIServerService) port() tree.Tree {
	return tree.Tree{"name": "https", "protocol": "TCP", "port": int64(a.address.Port)}
}

func (a *APIServerService) metadata(labels tree.Tree) tree.Tree {
	return tree.Tree{"name": a.address.Service.Name, "namespace": a.address.Service.Namespace, "labels": labels}
}
