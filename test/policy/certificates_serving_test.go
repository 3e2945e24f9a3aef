package policy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestInClusterClient checks that a Pod can verify the server by every name of its Service, with
// only the root CA and service account token mounted in every Pod.
func TestInClusterClient(t *testing.T) {
	dial := func(c *certificateCluster, roots *x509.CertPool) *http.Client {
		address := strings.TrimPrefix(c.URL, "https://")
		return &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // as kube-proxy does
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		}}
	}
	change := func(d *daemon.Config) {
		d.Services.ClusterIPRange = "10.21.0.0/16,fd21::/112"
		d.Serving.AdvertiseAddress = "192.0.2.7"
		d.ServiceAccounts.Issuers = []string{"https://platform.default.svc.example.org", "https://kubernetes.default.svc.example.org", "urn:x"}
	}
	openCertificatesInProfiles(t, change, func(c *certificateCluster) {
		roots := x509.NewCertPool()
		client.Eventually(c.T, func() error {
			answer, err := c.Get(c.Ctx, c.named("/api/v1/namespaces/default/configmaps/platform-root-ca.crt"))
			if err == nil && !roots.AppendCertsFromPEM([]byte(answer.Object().Data("ca.crt"))) {
				err = fmt.Errorf("%v", answer)
			}
			return err
		})
		token := c.must(201, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", client.JSON, `{}`).At("status.token")
		service := c.profile // the API's Service is named after the profile
		ip := c.must(200, "GET", "/api/v1/namespaces/default/services/"+service, "", "").At("spec.clusterIP")
		pod := dial(c, roots)
		for _, host := range []string{
			fmt.Sprint(ip), "192.0.2.7", service, service + ".default", service + ".default.svc",
			service + ".default.svc.cluster.local", service + ".default.svc.example.org",
		} {
			r, err := http.NewRequestWithContext(c.Ctx, "GET", "https://"+host+"/api/v1/namespaces/default/pods", nil)
			if err != nil {
				c.T.Fatal(err)
			}
			r.Header.Set("Authorization", fmt.Sprint("Bearer ", token))
			answer, err := pod.Do(r)
			if err != nil {
				c.T.Error(err)
				continue
			}
			text, err := io.ReadAll(answer.Body)
			if want := "system:serviceaccount:default:default"; err != nil || answer.StatusCode != 403 || !strings.Contains(string(text), want) {
				c.T.Errorf("%s: %d %s %v, want that %s is forbidden", host, answer.StatusCode, text, err, want)
			}
			answer.Body.Close()
		}
	})
}

// TestServingCertificateLacksAName checks that a restart replaces the serving certificate only if
// it lacks a required name.
func TestServingCertificateLacksAName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serve := func(ipRange, advertise string) *x509.Certificate {
		s := client.Serve(t, dir, func(c *daemon.Config) { c.Services.ClusterIPRange, c.Serving.AdvertiseAddress = ipRange, advertise })
		defer s.Stop(t)
		c, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), s.TLS)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0]
	}
	first := serve("10.21.0.0/16", "")
	if err := first.VerifyHostname("10.21.0.1"); err != nil {
		t.Error(err)
	}
	if !serve("10.21.0.0/16", "").Equal(first) {
		t.Error("another certificate although nothing has changed")
	}
	second := serve("10.21.0.0/16", "192.0.2.7")
	if err := second.VerifyHostname("192.0.2.7"); err != nil {
		t.Error(err)
	}
	if err := serve("10.22.0.0/16", "192.0.2.7").VerifyHostname("10.22.0.1"); err != nil {
		t.Error(err)
	}
}

// TestExternalHostname checks that the external host name is in the serving certificate and in the
// OIDC discovery document.
func TestExternalHostname(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Serving.ExternalHostname = "api.example.com" })
	c, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), s.TLS)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.ConnectionState().PeerCertificates[0].VerifyHostname("api.example.com"); err != nil {
		t.Error(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	answer, err := s.Get(t.Context(), "/.well-known/openid-configuration")
	if err != nil {
		t.Fatal(err)
	}
	text := string(answer.Body)
	if want := `"https://api.example.com:` + port + `/openid/v1/jwks"`; !strings.Contains(text, want) {
		t.Errorf("got %s, want %s in it", text, want)
	}
}
