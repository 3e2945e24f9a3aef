package certificates

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Retention periods of requests, counted from the last decision, or from the creation of an
// undecided request.
const (
	// The requester has an hour to fetch the certificate, and approvers have a day to decide.
	decidedLifetime = time.Hour
	pendingLifetime = 24 * time.Hour
)

// Cleaner deletes CertificateSigningRequests an hour after they were approved, denied or failed,
// and undecided ones after a day, or earlier if the issued certificate expires. Deleting a request
// does not revoke the certificate.
type Cleaner struct{ requests }

func NewCleaner(env *reconcile.Env) *Cleaner {
	c := &Cleaner{}
	c.requests = newRequests(env, c.clean, "cannot delete a finished certificate request")
	c.Watch(c.client, c.note)
	return c
}

// note schedules the deletion of a request. The schedule is not persistent, because note is called
// for every request when the server starts.
func (c *Cleaner) note(e reconcile.Event) {
	if e.Deleted {
		c.Cancel(e.Key.Name)
		return
	}
	r, err := c.parse(e.Object)
	if err != nil {
		c.Log.Warn("cannot decode a certificate request", "request", e.Key.Name, "error", err)
		return
	}
	c.SetTime(e.Key.Name, end(r))
}

// clean deletes an expired request. It reads the request again first, because a new request may
// have the same name. A resourceVersion precondition makes the delete fail if the request is
// decided concurrently.
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

// end returns the time at which to delete a request. It ignores unreadable certificates.
func end(r *signingRequest) time.Time {
	var decided time.Time
	for _, kind := range []string{approved, denied, failed} {
		if c := tree.ConditionIn(r.conditions, kind); c != nil {
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

// certificateExpiry returns the expiry of the first certificate in base64-encoded PEM. It returns
// false if the first block is not a certificate, because signers may write arbitrary data.
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
