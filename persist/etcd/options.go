package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/troupe-api/troupe/persist"
)

// DefaultPrefix is the default of Options.Prefix.
const DefaultPrefix = "/troupe"

// Options configures a Log.
type Options struct {
	Endpoints []string // URLs; at least one
	CAFile    string   // CA file for server certificates; "": the system's CAs
	CertFile  string   // client certificate
	KeyFile   string
	Prefix    string // ""; DefaultPrefix
	// HealthCheckTimeout limits a health check. 0 means 2 s.
	HealthCheckTimeout time.Duration
	// WriteTimeout limits one transaction, including its delivery to the follower. 0 means 10 s.
	WriteTimeout time.Duration
	// CompactionInterval is the time between compactions. 0 means 5 min. If it is negative, the log
	// never compacts.
	CompactionInterval time.Duration
	// Transformer encodes and decodes values. If it is nil, they are stored unchanged.
	Transformer persist.Transformer
	Logger      *slog.Logger // nil: slog.Default()
	Now         func() time.Time
	// Base is the minimum first revision of a new store, rounded up to a multiple of 128.
	Base persist.Revision
	// CopyDir is a dedicated directory for a local copy of the state, which saves most reads on
	// startup. An empty CopyDir disables the copy.
	CopyDir string
	// Fatal is called once if the log cannot continue, for example after a restore of the servers.
	// The process must then exit. The call must not block.
	Fatal func(error)
	// MustExist makes Open fail instead of creating a store.
	MustExist bool
	// Dial connects to the host and port of an endpoint. nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

func (o Options) Validate() error {
	var errs []error
	if len(o.Endpoints) == 0 {
		errs = append(errs, errors.New("at least one server is required"))
	}
	secure := 0
	for _, e := range o.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			errs = append(errs, fmt.Errorf("%q is not a server URL, such as https://10.0.0.1:2379", e))
			continue
		}
		if u.Scheme == "https" {
			secure++
		}
	}
	if secure > 0 && secure < len(o.Endpoints) {
		errs = append(errs, errors.New("all servers must use https, or none"))
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		errs = append(errs, errors.New("a certificate and its key must be set together"))
	}
	if secure == 0 && o.CAFile+o.CertFile != "" {
		errs = append(errs, errors.New("certificates require servers with https"))
	}
	if o.Prefix != "" && cleanPrefix(o.Prefix) == "" {
		errs = append(errs, fmt.Errorf("the prefix %q must have a character other than /", o.Prefix))
	}
	return errors.Join(errs...)
}

func cleanPrefix(p string) string {
	if p = strings.Trim(p, "/"); p == "" {
		return ""
	}
	return "/" + p
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	o.Prefix = cleanPrefix(o.Prefix)
	if o.HealthCheckTimeout == 0 {
		o.HealthCheckTimeout = 2 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.CompactionInterval == 0 {
		o.CompactionInterval = 5 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Base = alignBase(o.Base)
	return o
}

func alignBase(base persist.Revision) persist.Revision {
	return (base + wholeRevision) &^ wholeRevision
}

// tls returns the TLS configuration for https endpoints, or nil for http. Each connection reads the
// client certificate again, to pick up renewals.
func (o Options) tls() (*tls.Config, error) {
	if !strings.HasPrefix(o.Endpoints[0], "https://") {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		text, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("etcd: the CA of the servers: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("etcd: the CA of the servers: %s has no certificate in PEM", o.CAFile)
		}
	}
	if o.CertFile != "" {
		if _, err := o.readCertificate(); err != nil {
			return nil, err
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return o.readCertificate() }
	}
	return c, nil
}

func (o Options) readCertificate() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("etcd: the certificate %s with its key %s: %w", o.CertFile, o.KeyFile, err)
	}
	if end := pair.Leaf.NotAfter; o.Now().After(end) {
		return nil, fmt.Errorf("etcd: the certificate %s has expired at %s", o.CertFile, end.UTC().Format(time.RFC3339))
	}
	return &pair, nil
}

// Dead connections are detected within keepAlive plus keepAliveTimeout.
const (
	dialTimeout      = 20 * time.Second
	keepAlive        = 10 * time.Second
	keepAliveTimeout = 5 * time.Second
	// maxSendBytes exceeds any server's limit, so that the server itself rejects oversized
	// requests.
	maxSendBytes = 64 << 20
)

func connect(o Options, more ...grpc.DialOption) (*clientv3.Client, error) {
	secure, err := o.tls()
	if err != nil {
		return nil, err
	}
	if o.Dial != nil {
		more = append(more, grpc.WithContextDialer(o.Dial))
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints: o.Endpoints, TLS: secure, DialTimeout: dialTimeout, DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		MaxCallSendMsgSize: maxSendBytes, Logger: zap.NewNop(), Context: context.Background(),
		DialOptions: append(more, grpc.WithDisableServiceConfig()),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return c, nil
}

func bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(clientv3.WithRequireLeader(ctx), timeout)
}
