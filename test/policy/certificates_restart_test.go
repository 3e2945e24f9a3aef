package policy

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// TestRestarts checks that a daemon stopped at any point completes its work after a restart. Each
// request must be approved and signed once, finished requests must be deleted, and every namespace
// must have the root CA ConfigMap.
func TestRestarts(t *testing.T) {
	t.Parallel()
	const rounds, perRound = 4, 12
	dir := t.TempDir()
	serve := func() *certificateCluster {
		ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
		t.Cleanup(cancel)
		s := client.Serve(t, dir, func(c *daemon.Config) { c.Controllers = everyController })
		return &certificateCluster{profileSession{client.Session{Server: s, Ctx: ctx, T: t}, "platform"}}
	}
	jane := order{signer: certificateClientSigner, usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}}
	signed := map[string]string{} // serial numbers by name of the request
	for round := range rounds {
		c := serve()
		var wait sync.WaitGroup
		for i := range perRound {
			name := fmt.Sprintf("r%d-%d", round, i)
			key := pki.NewKey(t)
			wait.Go(func() {
				c.must(201, "POST", csrs, client.JSON, jane.body(t, name, key))
				c.must(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+name+`"}}`)
				ago := time.Duration(0)
				if i%4 == 0 {
					ago = 2 * time.Hour
				}
				c.decide(name, "Approved", ago)
			})
		}
		wait.Wait()
		before := len(signed)
		client.Eventually(t, func() error { // the daemon is stopped when at least this many are signed
			for i := range perRound {
				name := fmt.Sprintf("r%d-%d", round, i)
				if i%4 != 0 && c.status(name)["certificate"] != nil {
					signed[name] = c.certificate(name).SerialNumber.String()
				}
			}
			if n := len(signed) - before; n < 2*round {
				return fmt.Errorf("%d are signed", n)
			}
			return nil
		})
		c.Stop(t)
	}
	c := serve()
	for round := range rounds {
		for i := range perRound {
			name := fmt.Sprintf("r%d-%d", round, i)
			c.rootsOf(name, nil)
			if i%4 == 0 {
				c.gone(name)
				continue
			}
			if serial := c.certificate(name).SerialNumber.String(); signed[name] != "" && signed[name] != serial {
				t.Errorf("%s was signed twice", name)
			}
		}
	}
}
