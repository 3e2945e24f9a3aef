package apiserver

import (
	"context"
	"errors"
	"net/netip"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Address is the address at which clients inside the cluster reach the API.
type Address struct {
	Service   meta.Key   // key of the Service
	ClusterIP netip.Addr // clusterIP of the Service
	IP        netip.Addr // address of the daemon; the zero value if other machines cannot reach it
	Port      int
}

// Service maintains the Service through which clients in the cluster reach the API, with its
// Endpoints and EndpointSlice. It reverts changes that other clients make to these objects.
type Service struct {
	*reconcile.Controller[string]
	address                     Address
	services, endpoints, slices reconcile.Client
}

// NewService returns a controller that publishes the given address.
func NewService(env *reconcile.Env, at Address) *Service {
	s := &Service{
		address: at, services: env.Core("Service"), endpoints: env.Core("Endpoints"), slices: env.Client("discovery.platform.io", "v1", "EndpointSlice"),
	}
	s.Controller = reconcile.New(env, "", func(ctx context.Context, _ string) error { return s.Ensure(ctx) }, "", "")
	s.Failed = func(_ string, err error) { env.Log.Warn("cannot maintain the API Service", "error", err) }
	kinds := []reconcile.Client{s.services}
	if at.IP.IsValid() {
		kinds = append(kinds, s.endpoints, s.slices)
	}
	for _, k := range kinds {
		s.Watch(k, func(e reconcile.Event) {
			if e.Key.Namespace == at.Service.Namespace {
				s.Add(at.Service.Name)
			}
		}).Name = at.Service.Name
	}
	return s
}

// Ensure creates the Service, its Endpoints and its EndpointSlice if they are missing, and corrects
// them if they differ from the desired state.
func (s *Service) Ensure(ctx context.Context) error {
	faults := []error{s.ensure(ctx, s.services, s.service())}
	if s.address.IP.IsValid() {
		faults = append(faults, s.ensure(ctx, s.endpoints, s.wantedEndpoints()), s.ensure(ctx, s.slices, s.slice()))
	}
	return errors.Join(faults...)
}

// ensure creates or patches one object. Fields that body does not set keep their values. If the
// patch fails because a field is immutable, ensure deletes and recreates the object.
func (s *Service) ensure(ctx context.Context, k reconcile.Client, body tree.Tree) error {
	if k.Kind == nil {
		return nil // the group is disabled
	}
	key := k.Key(s.address.Service.Namespace, s.address.Service.Name)
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
func (s *Service) service() tree.Tree {
	return tree.Tree{
		"metadata": s.metadata(tree.Tree{"component": "apiserver", "provider": s.address.Service.Name}),
		"spec": tree.Tree{
			"type": "ClusterIP", "clusterIP": s.address.ClusterIP.String(), "sessionAffinity": "None",
			"ports": []any{tree.Tree{"name": "https", "protocol": "TCP", "port": int64(443), "targetPort": int64(s.address.Port)}},
		},
	}
}

// wantedEndpoints returns the desired Endpoints. The label prevents mirroring into an
// EndpointSlice, because this controller writes its own EndpointSlice.
func (s *Service) wantedEndpoints() tree.Tree {
	return tree.Tree{
		"metadata": s.metadata(tree.Tree{s.Translate("endpointslice.platform.io/skip-mirror"): "true"}),
		"subsets": []any{tree.Tree{
			"addresses": []any{tree.Tree{"ip": s.address.IP.String()}},
			"ports":     []any{s.port()},
		}},
	}
}

func (s *Service) slice() tree.Tree {
	family := "IPv4"
	if s.address.IP.Is6() {
		family = "IPv6"
	}
	return tree.Tree{
		"metadata":    s.metadata(tree.Tree{s.Translate("platform.io/service-name"): s.address.Service.Name}),
		"addressType": family,
		"endpoints": []any{tree.Tree{
			"addresses": []any{s.address.IP.String()}, "conditions": tree.Tree{"ready": true},
		}},
		"ports": []any{s.port()},
	}
}

func (s *Service) port() tree.Tree {
	return tree.Tree{"name": "https", "protocol": "TCP", "port": int64(s.address.Port)}
}

func (s *Service) metadata(labels tree.Tree) tree.Tree {
	return tree.Tree{"name": s.address.Service.Name, "namespace": s.address.Service.Namespace, "labels": labels}
}
