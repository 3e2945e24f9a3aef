package aggregation

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An APIService names the server of a group version and its priority in discovery.
type APIService struct {
	discovery.GroupVersion
	Priority discovery.Priority
	address  *address // nil: this server
	// available is the Available condition, which holds the result of the last probe.
	available bool
}

// An address identifies a server and its TLS settings. APIServices with the same address share a
// backend.
type address struct {
	namespace, service string
	port               int64
	caBundle           string // PEM; "": system roots
	skipVerify         bool
}

const defaultPort = 443

func parse(object tree.Tree) APIService {
	spec := object.Object("spec")
	a := APIService{
		GroupVersion: discovery.GroupVersion{Group: spec.String("group"), Version: spec.String("version")},
		available:    tree.IsConditionTrue(object.Object("status"), "Available"),
	}
	a.Priority.Group, _ = spec.Int("groupPriorityMinimum")
	a.Priority.Version, _ = spec.Int("versionPriority")
	// Without spec.service, this server itself serves the group version, and the APIService only
	// sets its priority.
	if spec.Has("service") {
		a.address = parseAddress(spec)
	}
	return a
}

func parseAddress(spec tree.Tree) *address {
	service := spec.Object("service")
	a := &address{
		namespace: service.String("namespace"), service: service.String("name"), port: defaultPort,
		skipVerify: spec.Bool("insecureSkipTLSVerify"),
	}
	if port, ok := service.Int("port"); ok {
		a.port = port
	}
	if bundle, err := base64.StdEncoding.DecodeString(spec.String("caBundle")); err == nil {
		a.caBundle = string(bundle)
	}
	return a
}

func (a *address) host() string { return a.service + "." + a.namespace + ".svc" }

func (a *address) hostPort() string { return net.JoinHostPort(a.host(), strconv.FormatInt(a.port, 10)) }

func (a *address) text() string { return fmt.Sprintf("%s/%s:%d", a.namespace, a.service, a.port) }

// tls returns the TLS configuration. It calls certificate for each connection, because the client
// certificate may be renewed.
func (a *address) tls(certificate func() *tls.Certificate) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: a.host(), InsecureSkipVerify: a.skipVerify,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate(), nil },
	}
	if a.caBundle != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(a.caBundle)) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return c, nil
}
