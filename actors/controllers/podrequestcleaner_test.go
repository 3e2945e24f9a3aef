package controllers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/internal/must"
)

// TestPodRequestCleaner checks that PodCertificateRequests are deleted after 15 minutes, even if
// the controller starts later. A later request with the same name has its own deadline.
func TestPodRequestCleaner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		stub := base64.StdEncoding.EncodeToString(must.Get(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key))(t))
		create := func(name string) {
			w.perform(`create 1 PodCertificateRequest {"metadata":{"name":"` + name + `"},"spec":{"signerName":"example.com/s","podName":"p","podUID":"u",
				"serviceAccountName":"a","serviceAccountUID":"u","nodeName":"n","nodeUID":"u","stubPKCS10Request":"` + stub + `"}}`)
		}
		want := func(names ...string) {
			t.Helper()
			synctest.Wait()
			for _, name := range names {
				if w.count("PodCertificateRequest", `"name":"`+name+`"`) != 1 {
					t.Errorf("%s is gone", name)
				}
			}
			if w.count("PodCertificateRequest") != len(names) {
				t.Errorf("more is left than %v", names)
			}
		}
		create("early")
		time.Sleep(10 * time.Minute)
		create("again")
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { certificates.NewPodRequestCleaner(w.env()).Run(ctx) })
		time.Sleep(5*time.Minute - time.Second)
		want("early", "again")
		time.Sleep(time.Second)
		want("again")
		w.perform("delete 1 PodCertificateRequest again")
		create("again")
		time.Sleep(15*time.Minute - time.Second)
		want("again")
		time.Sleep(time.Second)
		want()
		cancel()
		wait.Wait()
	})
}
