package aggregation

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An APIService says who serves a version of a group, and where that stands in discovery.
type APIService struct {
	present.GroupVersion
	Priority present.Priority
	address  *address // nil: this server serves it
	// available: the server was found to answer when it was last asked.
	available bool
}

// An address is where a server is, and whom it must prove to be. Servers with the same address share a backend.
type address struct {
	namespace, service string
	port               int64
	caBundle           string // as PEM; "": what the system trusts
	skipVerify         bool
}

const defaultPort = 443

// parse reads an APIService object.
func parse(object tree.Tree) APIService {
	spec := object.Object("spec")
	a := APIService{
		GroupVersion: present.GroupVersion{Group: spec.String("group"), Version: spec.String("version")},
		available:    condition.IsTrue(object.Object("status"), "Available"),
	}
	a.Priority.Group, _ = spec.Int("groupPriorityMinimum")
	a.Priority.Version, _ = spec.Int("versionPriority")
	// No service: this server serves the version, and the object is only about where it stands in discovery.
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
	if bundle, err := base64.StdEncoding.DecodeString(spec.String("caBundle")); err == nil { // else it was not accepted
		a.caBundle = string(bundle)
	}
	return a
}

// host is the name that the server must prove to have.
func (a *address) host() string { return a.service + "." + a.namespace + ".svc" }

// hostPort is how requests name the server.
func (a *address) hostPort() string { return net.JoinHostPort(a.host(), strconv.FormatInt(a.port, 10)) }

// text is how the log names the server.
func (a *address) text() string { return fmt.Sprintf("%s/%s:%d", a.namespace, a.service, a.port) }

// tls is how connections to the server are made safe.
func (a *address) tls(certificate func() *tls.Certificate) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: a.host(), InsecureSkipVerify: a.skipVerify,
		// Asked for with each connection, as the certificate may be another one by then.
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
