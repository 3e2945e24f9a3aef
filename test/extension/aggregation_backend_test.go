package extension

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

const apiServices = "/apis/apiregistration.platform.io/v1/apiservices"

// A backend is an aggregated API server for the resource things. handle, which may be nil, returns
// true if it has responded to a request.
type backend struct {
	*httptest.Server
	handle func(w http.ResponseWriter, r *http.Request) bool

	mu   sync.Mutex
	seen []*http.Request // guarded by mu
}

// startBackend starts a backend with a certificate for the Service ext in the namespace default.
func startBackend(t *testing.T, handle func(w http.ResponseWriter, r *http.Request) bool) *backend {
	t.Helper()
	b := &backend{handle: handle}
	b.Server = httptest.NewUnstartedServer(b)
	b.Config.ErrorLog = log.New(io.Discard, "", 0) // discards errors of clients that do not trust its certificate
	b.TLS = &tls.Config{Certificates: []tls.Certificate{pki.Server(t, pki.Authority(t, "backends"), "ext.default.svc")}, ClientAuth: tls.RequestClientCert}
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.seen = append(b.seen, r)
	b.mu.Unlock()
	if b.handle != nil && b.handle(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch parts := strings.Split(r.URL.Path, "/"); {
	case r.URL.Path == "/apis" || strings.HasPrefix(r.URL.Path, "/openapi/"):
		http.NotFound(w, r)
	case len(parts) == 4:
		fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"%s/%s","resources":[
			{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"],"shortNames":["th"]},
			{"name":"things/scale","namespaced":true,"kind":"Scale","group":"autoscaling","version":"v1","verbs":["get"]}]}`, parts[2], parts[3])
	default:
		fmt.Fprintf(w, `{"kind":"Thing","path":%q}`, r.URL.RequestURI())
	}
}

func (b *backend) last(prefix string) *http.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.seen) - 1; i >= 0; i-- {
		if strings.HasPrefix(b.seen[i].URL.Path, prefix) {
			return b.seen[i]
		}
	}
	return nil
}

func (b *backend) address() string { return b.Listener.Addr().String() }

// ca returns the CA certificate in base64, as caBundle requires.
func (b *backend) ca() string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.TLS.Certificates[0].Certificate[1]}))
}

// An aggregationSession is a session with a daemon that resolves the Service default/ext to a
// backend's address.
type aggregationSession struct{ client.Session }

func openAggregation(t *testing.T, address string, change func(*daemon.Config)) aggregationSession {
	t.Helper()
	return aggregationSession{client.Open(t, func(c *daemon.Config) {
		c.Aggregation.ServiceResolver = []string{"ext.default=" + address}
		if change != nil {
			change(c)
		}
	})}
}

// apiService returns an APIService as JSON. more contains additional spec fields, each after a
// comma.
func apiService(group, version, more string) string {
	return fmt.Sprintf(`{"apiVersion":"apiregistration.platform.io/v1","kind":"APIService","metadata":{"name":"%s.%s"},"spec":{
		"group":%[2]q,"version":%[1]q,"groupPriorityMinimum":100,"versionPriority":10,"service":{"name":"ext","namespace":"default"}%[3]s}}`, version, group, more)
}

func (s aggregationSession) register(b *backend, group, version string) {
	s.T.Helper()
	s.Send(201, "POST", apiServices, client.JSON, apiService(group, version, `,"caBundle":"`+b.ca()+`"`))
	s.wantCondition(version+"."+group, "True", "Passed", "all checks passed")
}

// wantCondition waits until the Available condition of an APIService has the given status, reason
// and message prefix.
func (s aggregationSession) wantCondition(name, status, reason, message string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status, Reason, Message, LastTransitionTime string }
			}
		}
		a := s.Send(200, "GET", apiServices+"/"+name, "", "")
		if err := json.Unmarshal(a.Body, &o); err != nil {
			return err
		}
		for _, c := range o.Status.Conditions {
			if c.Type == "Available" && c.Status == status && c.Reason == reason && strings.HasPrefix(c.Message, message) && c.LastTransitionTime != "" {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %+v, want %s %s %q", o.Status.Conditions, status, reason, message)
	})
}
