package daemon

import (
	"context"
	"maps"
	"net"
	"net/netip"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/addresses"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// apiService is the Service of the API itself.
func (d *Daemon) apiService() meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: d.naming.Translate("platform")}
}

// newAllocators hand out what objects share: the addresses and ports of Services. They belong to the store,
// which asks them in the same step that stores the object, so that nothing is given out twice.
func (d *Daemon) newAllocators() (map[meta.GroupResource]mutation.Allocator, error) {
	ranges, err := allocation.ParseRanges(d.config.Services.ClusterIPRange)
	if err != nil {
		return nil, err
	}
	ports, err := allocation.ParsePortRange(d.config.Services.NodePortRange)
	if err != nil {
		return nil, err
	}
	own := d.apiService()
	d.services = allocation.NewServiceAllocator(ranges, ports, own, d.naming)
	all := d.services.Allocators()
	served := map[meta.GroupResource]bool{}
	for _, k := range d.kinds.StorageKinds() {
		served[k.Storage] = true
	}
	// Kinds that --runtime-config has switched off are not stored, and so need no allocator.
	maps.DeleteFunc(all, func(storage meta.GroupResource, _ mutation.Allocator) bool { return !served[storage] })
	return all, nil
}

// ensureAPIService makes the daemon known to the members of the cluster and to those that join it, and the ranges and addresses
// of Services to everybody; from then on it keeps that so. Without it the daemon works as well; so it starts also when the disk is full.
func (d *Daemon) ensureAPIService() error {
	at := controllers.APIServerAddress{
		Service: d.apiService(), ClusterIP: d.services.APIServerServiceIP(),
		IP: d.config.advertised(), Port: d.listener.Addr().(*net.TCPAddr).Port,
	}
	if err := addresses.NewRepair(d.store, d.kinds, d.services, d.log).Ensure(context.Background()); err != nil {
		d.log.Warn("making the addresses of Services known", "error", err)
	}
	own := controllers.NewAPIServerService(d.store, d.kinds, at, d.log)
	ensure := func(ctx context.Context) {
		if err := own.Ensure(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("making the service of the API known", "error", err)
		}
	}
	if d.election == nil {
		ensure(context.Background())
	}
	d.runWhereLeading(func(ctx context.Context) {
		ensure(ctx)
		own.Run(ctx)
	})
	info := controllers.NewClusterInfo(d.store, d.kinds, func() []byte {
		return certs.ClusterKubeconfig(d.advertisedURL(), d.identity.trustBundle())
	}, d.log)
	d.identity.onTrustChange(info.Publish)
	d.runWhereLeading(info.Run)
	return nil
}

// advertised is the address at which others reach the daemon; the zero address if there is none. A daemon
// on a loopback address cannot be reached by others, so it advertises nothing.
func (c Config) advertised() netip.Addr {
	if a, err := netip.ParseAddr(c.Serving.AdvertiseAddress); err == nil {
		return a
	}
	bind, err := netip.ParseAddr(c.Serving.BindAddress)
	switch {
	// An address that cannot be parsed is treated like one that nobody else can reach.
	case err != nil || bind.IsLoopback():
		return netip.Addr{}
	case !bind.IsUnspecified():
		return bind
	}
	local, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}
	}
	for _, a := range local {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// advertisedURL is where others reach the daemon.
func (d *Daemon) advertisedURL() string {
	if ip := d.config.advertised(); ip.IsValid() {
		return "https://" + netip.AddrPortFrom(ip, uint16(d.listener.Addr().(*net.TCPAddr).Port)).String()
	}
	return d.URL()
}
