package certificates

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
)

// How long a request is kept after the last decision about it, and without any.
const (
	// An hour is enough for the requester to fetch the certificate, and a day for somebody to decide.
	decidedLifetime = time.Hour
	pendingLifetime = 24 * time.Hour
)

// Cleaner deletes requests: an hour after they were approved, denied or have failed, after a day without a decision,
// and when the certificate that was issued expires. The certificate itself stays valid: deleting the request takes
// nothing away from whoever has fetched it.
type Cleaner struct{ requests }

// NewCleaner returns the controller.
func NewCleaner(env *reconcile.Env) *Cleaner {
	c := &Cleaner{}
	c.requests = newRequests(env, c.clean, "a certificate request that is over stays")
	c.Watch(c.client, c.note)
	return c
}

// note notes when a request is over. It is called for every request at the start too, so the schedule needs no store
// of its own.
func (c *Cleaner) note(e reconcile.Event) {
	if e.Deleted {
		c.Cancel(e.Key.Name)
		return
	}
	r, err := c.parse(e.Object)
	if err != nil {
		c.Log.Warn("a certificate request cannot be read", "request", e.Key.Name, "error", err)
		return
	}
	c.SetTime(e.Key.Name, end(r))
}

// clean deletes a request that is over. The object says so anew: it may be another one of the same name. The
// precondition of the delete keeps a decision that was made in between from being lost.
func (c *Cleaner) clean(ctx context.Context, name string) error {
	r, err := c.read(ctx, name)
	if err != nil || r == nil {
		return err
	}
	if at := end(r); at.After(c.now()) {
		c.SetTime(name, at)
		return nil
	}
	return c.client.Delete(ctx, r.object)
}

// end is when a request is over. A request without a certificate that can be read has no expiry.
func end(r *signingRequest) time.Time {
	var decided time.Time
	for _, kind := range []string{approved, denied, failed} {
		if c := condition.FindIn(r.conditions, kind); c != nil {
			if at := reconcile.Time(c, "lastUpdateTime"); at.After(decided) {
				decided = at
			}
		}
	}
	at := decided.Add(decidedLifetime)
	if decided.IsZero() {
		at = r.created.Add(pendingLifetime)
	}
	if expiry, ok := certificateExpiry(r.status.String("certificate")); ok && expiry.Before(at) {
		return expiry
	}
	return at
}

// certificateExpiry is when the first certificate of a text ends. Signers may add those of their CAs behind it. ok is
// false if there is none, or none that can be read: what a signer has written is not known to be a certificate.
func certificateExpiry(text string) (time.Time, bool) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return time.Time{}, false
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return time.Time{}, false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return c.NotAfter, true
}
