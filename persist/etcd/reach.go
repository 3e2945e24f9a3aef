package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// The etcd client retries until the timeout and then returns only the timeout error. To find the
// cause, the functions below connect to the servers directly. reachTimeout limits each attempt.

const reachTimeout = 2 * time.Second

// explained calls do. If the servers are unreachable, the returned error contains the cause.
func (l *Log) explained(ctx context.Context, do func(context.Context) error) error {
	if lasting, err := l.o.reach(ctx); lasting {
		return l.unavailable(err)
	}
	err := do(ctx)
	if errors.Is(err, persist.ErrUnavailable) {
		_, why := l.o.reach(context.WithoutCancel(ctx))
		err = errors.Join(err, why)
	}
	return err
}

// reach returns an error if no server is reachable. lasting is true if a retry is pointless because
// the TLS handshake fails with all servers.
func (o Options) reach(ctx context.Context) (lasting bool, err error) {
	secure, err := o.tls()
	if err != nil {
		return true, err
	}
	var errs []error
	lasting = true
	for _, e := range o.Endpoints {
		u, err := url.Parse(e)
		if err != nil {
			return true, err
		}
		refused, err := o.reachServer(ctx, u.Host, secure)
		if err == nil {
			return false, nil
		}
		lasting = lasting && refused
		errs = append(errs, fmt.Errorf("%s: %w", e, err))
	}
	return lasting, errors.Join(errs...)
}

// preface is the HTTP/2 client preface with empty settings. The response to it shows whether the
// server accepts the client certificate.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// reachServer connects to one server. refused is true if the TLS handshake failed.
func (o Options) reachServer(ctx context.Context, address string, secure *tls.Config) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	dial := o.Dial
	if dial == nil {
		dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	c, err := dial(ctx, address)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }() // nothing is lost
	if secure != nil {
		secure = secure.Clone()
		secure.NextProtos = []string{"h2"}
		if secure.ServerName, _, err = net.SplitHostPort(address); err != nil {
			secure.ServerName = address
		}
		c = tls.Client(c, secure)
	}
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return false, err
	}
	if _, err = io.WriteString(c, preface); err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	var late net.Error
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &late) && late.Timeout():
		return false, fmt.Errorf("it did not respond within %v", reachTimeout)
	case secure == nil && errors.Is(err, io.EOF):
		return false, errors.New("it closes the connection; does it need https?")
	}
	return isHandshake(err), err
}

func isHandshake(err error) bool {
	var (
		alert    *net.OpError
		server   *tls.CertificateVerificationError
		notInTLS tls.RecordHeaderError
	)
	return errors.As(err, &alert) && alert.Op == "remote error" || errors.As(err, &server) || errors.As(err, &notInTLS)
}
