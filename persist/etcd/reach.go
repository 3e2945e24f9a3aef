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

// The client tries again and again until the time is up, and then says so, whatever was wrong. So what is wrong is found out here
// by hand.

// reachTimeout bounds one attempt.
const reachTimeout = 2 * time.Second

// explained does something that begins to use the servers. Where they cannot be reached, the error says why.
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

// reach answers why no server can be reached; nil if one can. lasting says that all of them are there and that certificates
// are in the way, so that it makes no sense to go on trying.
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
		refused, err := reachServer(ctx, u.Host, secure)
		if err == nil {
			return false, nil
		}
		lasting = lasting && refused
		errs = append(errs, fmt.Errorf("%s: %w", e, err))
	}
	return lasting, errors.Join(errs...)
}

// preface is what a client of HTTP/2 sends first, with empty settings. Servers look at a certificate only when they have read it.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// reachServer begins a connection. refused says that certificates are in the way.
func reachServer(ctx context.Context, address string, secure *tls.Config) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }() // nothing was lost with it
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
		return false, fmt.Errorf("it does not answer within %v", reachTimeout)
	case secure == nil && errors.Is(err, io.EOF):
		return false, errors.New("it closes the connection; is it to be reached by https?")
	}
	return isHandshake(err), err
}

// isHandshake tells whether an error is about TLS.
func isHandshake(err error) bool {
	var (
		alert    *net.OpError
		server   *tls.CertificateVerificationError
		notInTLS tls.RecordHeaderError
	)
	return errors.As(err, &alert) && alert.Op == "remote error" || errors.As(err, &server) || errors.As(err, &notInTLS)
}
