package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/addresses"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// An endpoint is the port of the API, and what says where it is: the administrator's kubeconfig, the Service of the API
// and the ConfigMap cluster-info. Connections wait in the queue of the port until the front end serves them.
type endpoint struct {
	base
	storage    *storage
	identity   *identity
	leadership *leadership

	listener net.Listener
}

// Start takes the port before it writes anything about it.
func (e *endpoint) Start() (err error) {
	address := net.JoinHostPort(e.config.Serving.BindAddress, strconv.Itoa(e.config.Serving.SecurePort))
	if e.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("%w\nchoose another address with --bind-address or another port with --secure-port; 0 is any that is free", err)
	}
	if err := e.keepAdminKubeconfig(); err != nil {
		return err
	}
	e.publish()
	return nil
}

func (e *endpoint) Stop(ctx context.Context) error {
	err := e.base.Stop(ctx)
	if e.listener != nil {
		// The front end has closed it, unless the start failed before it served.
		if closed := e.listener.Close(); !errors.Is(closed, net.ErrClosed) {
			err = closed
		}
	}
	return errors.Join(err, e.removeEphemeralKubeconfig())
}

// apiService is the Service of the API itself.
func (s *settings) apiService() meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: s.naming.Translate("platform")}
}

// publish makes the daemon known to the members of the cluster and to those that join it, and the ranges and addresses
// of Services to everybody; from then on it keeps that so. Without it the daemon works as well; so it starts also when the disk is full.
func (e *endpoint) publish() {
	env, services := controllers.NewEnv(e.storage.store, e.storage.kinds, e.log), e.storage.services
	if err := addresses.NewRepair(env, services).Ensure(context.Background()); err != nil {
		e.log.Warn("making the addresses of Services known", "error", err)
	}
	own := controllers.NewAPIServerService(env, controllers.APIServerAddress{
		Service: e.apiService(), ClusterIP: services.APIServerServiceIP(),
		IP: e.config.advertised(), Port: e.listener.Addr().(*net.TCPAddr).Port,
	})
	ensure := func(ctx context.Context) {
		if err := own.Ensure(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("making the service of the API known", "error", err)
		}
	}
	if e.leadership.election == nil {
		ensure(context.Background())
	}
	info := controllers.NewClusterInfo(env, func() []byte {
		return certs.ClusterKubeconfig(e.advertisedURL(), e.identity.trustBundle())
	})
	e.identity.onTrustChange(info.Publish)
	e.run(func(ctx context.Context) {
		e.leadership.lead(ctx, func(ctx context.Context) {
			ensure(ctx)
			own.Run(ctx)
		})
	})
	e.run(func(ctx context.Context) { e.leadership.lead(ctx, info.Run) })
}

// url is the address for clients on this machine, as in "https://127.0.0.1:6443". An unspecified address is
// none that a client can connect to, so it is written as the loopback address, which the certificate names
// too.
func (e *endpoint) url() string {
	host, port, _ := net.SplitHostPort(e.listener.Addr().String())
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port)
}

// advertisedURL is where others reach the daemon.
func (e *endpoint) advertisedURL() string {
	if ip := e.config.advertised(); ip.IsValid() {
		return "https://" + netip.AddrPortFrom(ip, uint16(e.listener.Addr().(*net.TCPAddr).Port)).String()
	}
	return e.url()
}

// advertised is the address at which others reach the daemon; the zero address if there is none. A daemon
// on a loopback address cannot be reached by others, so it advertises nothing.
func (c Config) advertised() netip.Addr {
	if a, err := netip.ParseAddr(c.Serving.AdvertiseAddress); err == nil {
		return a
	}
	bind, err := netip.ParseAddr(c.Serving.BindAddress)
	switch {
	// An address that cannot be parsed counts as unreachable for other machines.
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
