package aggregation

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

const (
	probeTimeout = 5 * time.Second
	// maxProbes are the endpoints of a Service that are asked at the same time.
	maxProbes = 5
)

// Probe finds out whether the server of an APIService answers, by its spec. The error is a *services.Fault where objects
// tell that it cannot, and else says what came of asking it. One endpoint that answers is enough.
//
// The certificate of the server is not verified: nothing is told to it but that somebody asks, and the APIService is
// not to seem unavailable to those who look for the cause.
func (s *Servers) Probe(ctx context.Context, spec tree.Tree) error {
	a := parse(tree.Tree{"spec": spec})
	at := a.address
	// Objects tell more exactly than a connection what is missing.
	if err := s.opts.Resolver.Check(at.namespace, at.service, at.port); err != nil {
		return err
	}
	addresses, err := s.opts.Resolver.Resolve(at.namespace, at.service, at.port)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout+time.Second)
	defer cancel()
	client := s.probeClient()
	addresses = addresses[:min(len(addresses), maxProbes)]
	// There is room for all, so that who loses the race does not wait for a reader that has gone.
	results := make(chan error, len(addresses))
	for _, to := range addresses {
		go func() { results <- s.probe(ctx, client, to, a.Path()) }()
	}
	for range addresses {
		if err = <-results; err == nil {
			return nil
		}
	}
	return err
}

// probeClient makes connections for one probe.
func (s *Servers) probeClient() *http.Client {
	return &http.Client{
		Timeout: probeTimeout,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{}).DialContext,
			// A probe that reuses a connection says nothing of whether new ones are taken.
			DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{
				MinVersion: tls.VersionTLS12, InsecureSkipVerify: true,
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return s.opts.ClientCertificate(), nil
				},
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// probe asks one endpoint.
func (s *Servers) probe(ctx context.Context, client *http.Client, to, path string) error {
	u := url.URL{Scheme: "https", Host: to, Path: path}
	failed := func(err error) error { return fmt.Errorf("failing or missing response from %s: %w", u.String(), err) }
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return failed(err)
	}
	user := s.opts.Naming.Translate("system:platform-aggregator")
	s.opts.Identity.identify(r.Header, &authn.User{Name: user, Groups: []string{authn.GroupMasters}})
	resp, err := client.Do(r)
	if err != nil {
		return failed(err)
	}
	_ = resp.Body.Close() // the head says it all
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return failed(fmt.Errorf("bad status from %s: %d", u.String(), resp.StatusCode))
	}
	return nil
}

// Notify calls onChange, until the context ends, with each Service of which something has changed that decides how it is reached.
func (s *Servers) Notify(ctx context.Context, onChange func(namespace, name string)) error {
	return s.opts.Resolver.Notify(ctx, onChange)
}
