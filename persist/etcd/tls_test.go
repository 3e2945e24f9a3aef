package etcd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
)

// TestTLS checks that a log works with the servers' CA and a trusted client certificate, and that
// Open reports the reason for rejecting any other certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Hour)
	ours, theirs := newAuthority(t), newAuthority(t)
	cluster := startSecure(t, ours, ours.file)
	good := Options{Endpoints: cluster.URLs(), CAFile: ours.file}
	good.CertFile, good.KeyFile = ours.issue(t.TempDir(), soon)
	a, b := open(t, good), open(t, good)
	same(t, "a write", a.append(create("/c/n/a", "1")), "ok")
	b.await()
	same(t, "what the other sees", b.text(), a.text())

	garbage := filepath.Join(t.TempDir(), "garbage")
	must.Succeed(t, os.WriteFile(garbage, []byte("no PEM"), 0o600))
	for name, test := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"no certificate":      {func(o *Options) { o.CertFile, o.KeyFile = "", "" }, "certificate required"},
		"of another CA":       {func(o *Options) { o.CertFile, o.KeyFile = theirs.issue(t.TempDir(), soon) }, "unknown certificate authority"},
		"expired":             {func(o *Options) { o.CertFile, o.KeyFile = ours.issue(t.TempDir(), time.Now().Add(-time.Minute)) }, "has expired at"},
		"key of another":      {func(o *Options) { _, o.KeyFile = ours.issue(t.TempDir(), soon) }, "private key does not match"},
		"servers of another":  {func(o *Options) { o.CAFile = theirs.file }, "certificate signed by unknown authority"},
		"CA is not there":     {func(o *Options) { o.CAFile = "/nowhere/ca.crt" }, "/nowhere/ca.crt"},
		"CA is no CA":         {func(o *Options) { o.CAFile = garbage }, garbage},
		"certificate is none": {func(o *Options) { o.CertFile = garbage }, garbage},
		"plain HTTP": {func(o *Options) {
			*o = Options{Endpoints: []string{strings.Replace(o.Endpoints[0], "https", "http", 1)}}
		}, "https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := good
			test.change(&o)
			// Only errors that a missing server may cause are retried until the timeout.
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
			defer cancel()
			l, err := Open(ctx, o)
			if err == nil {
				t.Fatal("it was opened", l.Close())
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

// TestNewCertificates checks that a log uses renewed certificates after the servers switch to
// another CA. Before the renewal, it must report that its certificate is invalid.
func TestNewCertificates(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Hour)
	before, after := newAuthority(t), newAuthority(t)
	clients, dir := filepath.Join(t.TempDir(), "clients.crt"), t.TempDir()
	trust := func(a *authority) {
		t.Helper()
		text, err := os.ReadFile(a.file)
		if err == nil {
			err = os.WriteFile(clients, text, 0o600)
		}
		must.Succeed(t, err)
	}
	trust(before)
	cluster := startSecure(t, before, clients)
	o := Options{Endpoints: cluster.URLs(), CAFile: before.file, HealthCheckTimeout: 1500 * time.Millisecond}
	o.CertFile, o.KeyFile = before.issue(dir, soon)
	a := open(t, o)
	same(t, "before", a.append(create("/c/n/a", "1")), "ok")
	trust(after)
	cluster.Members[0].Kill()
	cluster.Members[0].Run()
	eventually(t, "noticing", func() bool { return a.Healthy() != nil })
	after.issue(dir, soon)
	eventually(t, "writing", func() bool {
		results, err := a.Append([]persist.Write{create("/c/n/b", "1")})
		return err == nil && results[0].Err == nil
	})
}
