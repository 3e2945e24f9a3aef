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
	// maxProbes is the maximum number of concurrent probes of one APIService.
	maxProbes = 5
)

// Probe checks whether the server of an APIService responds at one or more endpoints. It returns a
// *services.Fault if the Service or its endpoints explain a failure, and otherwise a request error.
func (s *Servers) Probe(ctx context.Context, spec tree.Tree) error {
	a := parse(tree.Tree{"spec": spec})
	at := a.address
	// Check the Service and its endpoints first, because their errors are more precise than dial
	// errors.
	if err := s.opts.Resolver.Check(at.namespace, at.service, at.port); err != nil {
		return err
	}
	addresses, err := s.opts.Resolver.Resolve(at.namespace, at.service, at.port)
	if err != nil {
		return err
	}
	config, err := at.tls(s.opts.ClientCertificate)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout+time.Second)
	defer cancel()
	client := probeClient(config)
	addresses = addresses[:min(len(addresses), maxProbes)]
	// The buffer lets unfinished probes send their results after this function has returned.
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

func probeClient(config *tls.Config) *http.Client {
	return &http.Client{
		Timeout: probeTimeout,
		Transport: &http.Transport{
			DialContext: (&net.Dialer{}).DialContext,
			// A reused connection would not show whether the server accepts new connections.
			DisableKeepAlives: true,
			TLSClientConfig:   config,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// probe requests path from one endpoint. Any status other than 2xx is an error.
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
	_ = resp.Body.Close() // only the status matters
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return failed(fmt.Errorf("bad status from %s: %d", u.String(), resp.StatusCode))
	}
	return nil
}

// Notify calls onChange for each Service that may have become reachable or unreachable, until ctx
// ends.
func (s *Servers) Notify(ctx context.Context, onChange func(namespace, name string)) error {
	return s.opts.Resolver.Notify(ctx, onChange)
}
