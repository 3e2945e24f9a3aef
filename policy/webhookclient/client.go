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
	"github.com/troupe-api/troupe/policy/services"
)

// A Resolver returns the addresses of Services as host:port, the preferred one first.
type Resolver interface {
	Resolve(namespace, name string, port int64) ([]string, error)
}

// A Dialer creates Clients. It is safe for concurrent use.
type Dialer struct {
	// Users holds the credentials for webhooks. It may be nil.
	Users    *kubeconfig.UsersFile
	Resolver Resolver
	// MaxAnswer limits a response, in bytes. The default is 3 MiB.
	MaxAnswer int
}

const maxIdle = 16

// A Client sends requests to one address. It is safe for concurrent use.
type Client struct {
	client  *remote.Client
	circuit *circuit
}

// Client returns a new Client for an address. An error means that the clientConfig is invalid.
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

func (d Dialer) dialService(ctx context.Context, network string, a Address) (net.Conn, error) {
	addresses, err := d.Resolver.Resolve(a.namespace, a.service, a.port)
	if err != nil {
		return nil, err
	}
	return services.Dial(ctx, net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}, network, addresses)
}

// Close closes idle connections. Other connections close after their calls.
func (c *Client) Close() { c.client.Close() }

// errAbandoned is the error that the circuit records for a call that panics.
var errAbandoned = errors.New("the call was abandoned")

// Ask sends a request and returns the response with any status code. ctx is the context of the API
// request that needs the call. While the webhook is unreachable or unresponsive, Ask fails
// immediately.
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

// withoutURL strips the URL from an error that the circuit records. The circuit returns the error
// for later calls, and Ask then adds their URL.
func withoutURL(err error) error {
	if failed, ok := err.(*url.Error); ok {
		return failed.Err
	}
	return err
}

func timeoutQuery(ctx context.Context) string {
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline)
	if !ok || left <= 0 {
		return ""
	}
	return fmt.Sprintf("timeout=%ds", int((left+time.Second-1)/time.Second))
}
