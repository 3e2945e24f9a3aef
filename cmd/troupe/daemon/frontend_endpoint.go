package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/network/addresses"
	"github.com/troupe-api/troupe/actors/controllers/tokens"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// An endpoint is the listener of the API. It publishes its address in the administrator's
// kubeconfig, the API's Service and the cluster-info ConfigMap. Connections queue in the listener
// until the front end serves them.
type endpoint struct {
	base

	listener net.Listener
}

func (e *endpoint) Start() (err error) {
	address := net.JoinHostPort(e.config.Serving.BindAddress, strconv.Itoa(e.config.Serving.SecurePort))
	if e.listener = e.settings.listener; e.listener == nil {
		if e.listener, err = net.Listen("tcp", address); err != nil {
			advice := "choose another --secure-port (0 for a free port)"
			if errors.Is(err, syscall.EADDRNOTAVAIL) {
				advice = "choose another --bind-address"
			}
			return fmt.Errorf("%w\n%s", err, advice)
		}
	}
	if err = e.keepAdminKubeconfig(); err == nil {
		e.publish()
	}
	return err
}

func (e *endpoint) Stop(ctx context.Context) error {
	err := e.base.Stop(ctx)
	if e.listener != nil {
		// The front end has already closed the listener, unless Start failed earlier.
		if closed := e.listener.Close(); !errors.Is(closed, net.ErrClosed) {
			err = closed
		}
	}
	return errors.Join(err, e.removeEphemeralKubeconfig())
}

func (s *settings) apiService() meta.Key {
	return meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: s.naming.Translate("platform")}
}

// publish maintains the API's own Service, the cluster-info ConfigMap and the Service ranges. It
// only logs failures, so that the daemon starts even if the disk is full.
func (e *endpoint) publish() {
	env, services := controllers.NewEnv(e.storage.store, e.storage.kinds, e.log), e.storage.services
	if err := addresses.NewRepair(env, services).Ensure(context.Background()); err != nil {
		e.log.Warn("publishing the Service CIDRs", "error", err)
	}
	own := apiserver.NewService(env, apiserver.Address{
		Service: e.apiService(), ClusterIP: services.APIServerServiceIP(),
		IP: e.config.advertised(), Port: e.listener.Addr().(*net.TCPAddr).Port,
	})
	ensure := func(ctx context.Context) {
		if err := own.Ensure(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("publishing the API Service", "error", err)
		}
	}
	if e.leadership.election == nil {
		ensure(context.Background())
	}
	info := tokens.NewClusterInfo(env, func() []byte {
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

// url returns the address for clients on this machine, such as "https://127.0.0.1:6443". Clients
// cannot connect to an unspecified address such as 0.0.0.0, so it is replaced with 127.0.0.1, which
// the certificate includes.
func (e *endpoint) url() string {
	host, port, _ := net.SplitHostPort(e.listener.Addr().String())
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port)
}

func (e *endpoint) advertisedURL() string {
	if host := e.config.Serving.ExternalHostname; host != "" {
		return fmt.Sprintf("https://%s:%d", host, e.listener.Addr().(*net.TCPAddr).Port)
	}
	if ip := e.config.advertised(); ip.IsValid() {
		return "https://" + netip.AddrPortFrom(ip, uint16(e.listener.Addr().(*net.TCPAddr).Port)).String()
	}
	return e.url()
}

// advertised returns the address at which other machines reach the daemon, or the zero Addr if
// there is none, for example because the daemon listens on a loopback address.
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
	local, _ := net.InterfaceAddrs() // none after an error
	for _, a := range local {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}
