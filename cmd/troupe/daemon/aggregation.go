package daemon

import (
	"context"
	"errors"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/certs"
	"github.com/troupe-api/troupe/policy/services"
)

// Aggregation configures access to extension API servers.
type Aggregation struct {
	// ProxyClientCertFile and ProxyClientKeyFile are the daemon's client certificate for extension
	// API servers. If they are empty, the daemon generates a certificate.
	ProxyClientCertFile string `flag:"proxy-client-cert-file"`
	ProxyClientKeyFile  string `flag:"proxy-client-key-file"`
	// EndpointRouting sends requests to the endpoints of Services instead of their cluster IPs.
	EndpointRouting bool `flag:"enable-aggregator-routing"`
	// RejectForwardingRedirects returns an error instead of forwarding redirects.
	RejectForwardingRedirects bool `flag:"aggregator-reject-forwarding-redirect"`
	// ServiceResolver maps Services to addresses, in the form name.namespace=host:port.
	ServiceResolver []string `flag:"aggregator-service-resolver"`
}

// An aggregator tracks APIServices and the discovery documents of their servers.
type aggregator struct {
	base

	*aggregation.Servers
}

func (a *aggregator) Start() error {
	given, err := parseServiceAddresses(a.config.Aggregation.ServiceResolver)
	if err != nil {
		return err
	}
	resolver := services.NewResolver(a.ctx, a.storage.objects, a.naming, given)
	if !a.config.Aggregation.EndpointRouting {
		resolver = resolver.ViaClusterIP()
	}
	r := a.config.Authentication.RequestHeader
	a.Servers = aggregation.New(aggregation.Options{
		Naming: a.naming, Resolver: resolver, ClientCertificate: a.identity.proxyClient, Log: a.log,
		Identity: aggregation.IdentityHeaders{
			Names: slices.Concat(r.UsernameHeaders, r.UIDHeaders, r.GroupHeaders), Prefixes: r.ExtraPrefixes,
		},
		PassRedirects: !a.config.Aggregation.RejectForwardingRedirects,
		BuiltIn: func(group, version string) bool {
			return slices.ContainsFunc(a.storage.kinds.Kinds(), func(k *schema.Kind) bool {
				return k.Group == group && k.Version == version && !k.IsCustom()
			})
		},
	})
	return a.Follow(a.ctx, a.storage.objects)
}

func (a *aggregator) Stop(ctx context.Context) error {
	err := a.base.Stop(ctx)
	if a.Servers != nil {
		a.Wait()
	}
	return err
}

// Probe checks the server of an APIService and maps errors to reasons of the Available condition.
func (a *aggregator) Probe(ctx context.Context, spec tree.Tree) apiservices.Unavailability {
	err := a.Servers.Probe(ctx, spec)
	var fault *services.Fault
	switch {
	case err == nil:
		return apiservices.Unavailability{}
	case errors.As(err, &fault):
		return apiservices.Unavailability{Reason: fault.Reason, Message: fault.Message}
	}
	return apiservices.Unavailability{Reason: "FailedDiscoveryCheck", Message: err.Error(), Retry: true}
}

// Resources returns the remote resources, and the group versions for which discovery has failed.
func (a *aggregator) Resources() (all []apiservices.Resource, unknown []string) {
	resources, versions := a.RemoteResources()
	for _, r := range resources {
		all = append(all, apiservices.Resource{Group: r.Group, Version: r.Version, Name: r.Name, Namespaced: r.Namespaced, Verbs: r.Verbs})
	}
	for _, v := range versions {
		unknown = append(unknown, v.String())
	}
	return all, unknown
}

// Do sends a request as the controller's service account. Extension API servers authorize it with a
// SubjectAccessReview to this server, whose default roles grant the permissions.
func (a *aggregator) Do(ctx context.Context, r apiservices.Request) (code int, body []byte, err error) {
	of, account := discovery.GroupVersion{Group: r.Group, Version: r.Version}, serviceaccount.Account{Namespace: a.naming.SystemNamespace(), Name: r.Controller}
	return a.Servers.Do(ctx, aggregation.RemoteRequest{
		GroupVersion: of, User: &authn.User{Name: account.Username(), Groups: append(account.Groups(), authn.GroupAuthenticated)},
		Method: r.Method, Path: of.Path() + r.Path, Query: r.Query, Body: r.Body,
	})
}

// trust returns the configuration with which extension API servers authenticate requests: the
// client CA, and the CA, names and headers of proxies. The daemon is one of these proxies.
func (a *aggregator) trust() (t apiserver.ExtensionTrust, err error) {
	c := a.config.Authentication
	t = apiserver.ExtensionTrust{
		UsernameHeaders: withItem(c.RequestHeader.UsernameHeaders, aggregation.UserHeader),
		UIDHeaders:      withItem(c.RequestHeader.UIDHeaders, aggregation.UIDHeader),
		GroupHeaders:    withItem(c.RequestHeader.GroupHeaders, aggregation.GroupHeader),
		ExtraPrefixes:   withItem(c.RequestHeader.ExtraPrefixes, aggregation.ExtraPrefix),
		AllowedNames:    c.RequestHeader.AllowedNames,
	}
	if t.ClientCA, err = bundle(a.identity.ownCerts.CABundle, c.ClientCAFile); err != nil {
		return t, err
	}
	own := certs.Source(nil)
	if a.identity.proxy == nil {
		own = func() ([]byte, error) { return a.identity.certificates().ProxyCA.CertPEM, nil }
		if len(t.AllowedNames) > 0 || c.RequestHeader.ClientCAFile == "" {
			t.AllowedNames = withItem(t.AllowedNames, certs.ProxyClientName)
		}
	}
	t.ProxyCA, err = bundle(own, c.RequestHeader.ClientCAFile)
	return t, err
}

func bundle(source certs.Source, file string) ([]byte, error) {
	var all []byte
	if source != nil {
		text, err := source()
		if err != nil {
			return nil, err
		}
		all = append(text[:len(text):len(text)], '\n')
	}
	if file == "" {
		return all, nil
	}
	text, err := certs.FileSource(file)()
	return append(all, text...), err
}

func withItem(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(slices.Clone(list), item)
}
