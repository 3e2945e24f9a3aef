package webhookclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/remote"
)

// A Resolver finds the addresses of Services, host:port, the best first.
type Resolver interface {
	Resolve(namespace, name string, port int64) ([]string, error)
}

// A Dialer makes Clients. Many goroutines may use it.
type Dialer struct {
	// Users are the credentials for webhooks; nil for none.
	Users    *kubeconfig.UsersFile
	Resolver Resolver
	// MaxAnswer bounds an answer, in bytes [3 MiB].
	MaxAnswer int
}

// maxIdle are the connections to one address that are kept while nothing is asked.
const maxIdle = 16

// A Client reaches one address. Many goroutines may use it.
type Client struct {
	client  *remote.Client
	circuit *circuit
}

// Client makes a Client for an address. The error says what is wrong with the clientConfig.
func (d Dialer) Client(a Address) (*Client, error) {
	target := a.target()
	config, err := a.tls(func(ctx context.Context) (*tls.Certificate, error) { return d.Users.For(target).Certificate(ctx) })
	if err != nil {
		return nil, err
	}
	o := remote.Options{
		URL: a.url, TLS: config, MaxIdle: maxIdle, MaxAnswer: d.MaxAnswer,
		Credential: func() *kubeconfig.Credential { return d.Users.For(target) },
	}
	if a.service != "" {
		o.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) { return d.dialService(ctx, network, a) }
	}
	return &Client{client: remote.New(o), circuit: newCircuit()}, nil
}

const (
	// maxEndpoints are the endpoints of a Service that are tried for one connection.
	maxEndpoints = 3
	// endpointTimeout is the time for one of them, if there are more.
	endpointTimeout = 2 * time.Second
)

// dialService connects to a Service.
func (d Dialer) dialService(ctx context.Context, network string, a Address) (net.Conn, error) {
	addresses, err := d.Resolver.Resolve(a.namespace, a.service, a.port)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if len(addresses) > 1 {
		dialer.Timeout = endpointTimeout
	}
	var errs error
	for _, address := range addresses[:min(len(addresses), maxEndpoints)] {
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		errs = err
	}
	return nil, errs
}

// Close closes the connections that are kept. Those in use are closed when they are not any more.
func (c *Client) Close() { c.client.Close() }

// errAbandoned is how a call ends that panics.
var errAbandoned = errors.New("the call was abandoned")

// Ask sends a question for a request, whose context is ctx, and returns the answer, whatever its code. It fails at once
// while the webhook cannot be reached, or answers nobody.
func (c *Client) Ask(ctx context.Context, timeout time.Duration, body []byte) (answer remote.Response, err error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	leave, err := c.circuit.enter(limited, ctx)
	if err != nil {
		return remote.Response{}, &url.Error{Op: "Post", URL: c.client.URL() + "?" + timeoutQuery(limited), Err: err}
	}
	var connected atomic.Bool
	err = errAbandoned
	defer func() { leave(connected.Load(), withoutURL(err)) }()
	traced := httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	return c.client.Ask(traced, timeoutQuery(limited), body)
}

// withoutURL is an error without the URL, which is said anew where the error is told of a later call.
func withoutURL(err error) error {
	if failed, ok := err.(*url.Error); ok {
		return failed.Err
	}
	return err
}

// timeoutQuery tells the webhook how long the answer is waited for, in whole seconds.
func timeoutQuery(ctx context.Context) string {
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline)
	if !ok || left <= 0 {
		return ""
	}
	return fmt.Sprintf("timeout=%ds", int((left+time.Second-1)/time.Second))
}
