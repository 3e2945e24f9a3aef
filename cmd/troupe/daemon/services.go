package daemon

import (
	"context"
	"net"
	"net/netip"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// apiService is the Service of the API itself.
func (d *Daemon) apiService() meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: d.naming.Translate("platform")}
}

// newAllocators hand out what objects share: the addresses and ports of Services.
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
	d.services = allocation.NewServiceAllocator(ranges, ports, own)
	return map[meta.GroupResource]mutation.Allocator{own.GroupResource: d.services}, nil
}

// ensureAPIService makes the daemon known to the members of the cluster. Without it the daemon
// works as well; so it starts also when the disk is full.
func (d *Daemon) ensureAPIService() error {
	at := controllers.APIServerAddress{
		Service: d.apiService(), ClusterIP: d.services.APIServerServiceIP(),
		IP: d.config.advertised(), Port: d.listener.Addr().(*net.TCPAddr).Port,
	}
	if err := controllers.NewAPIServerService(d.store, d.kinds, at).Ensure(context.Background()); err != nil {
		d.log.Warn("making the service of the API known", "error", err)
	}
	return nil
}

// advertised is the address at which others reach the daemon; the zero address if there is none.
func (c Config) advertised() netip.Addr {
	if a, err := netip.ParseAddr(c.Serving.AdvertiseAddress); err == nil {
		return a
	}
	bind, err := netip.ParseAddr(c.Serving.BindAddress)
	switch {
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
