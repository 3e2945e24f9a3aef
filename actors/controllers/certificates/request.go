package certificates

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// group is the API group of CertificateSigningRequests and ClusterTrustBundles in the platform
// naming profile.
const group = "certificates.platform.io"

// Condition types of a request. These conditions always have the status True.
const (
	approved = "Approved"
	denied   = "Denied"
	failed   = "Failed"
)

type signingRequest struct {
	object         *meta.Object
	created        time.Time
	spec, status   tree.Tree
	parsed         *x509.CertificateRequest // set by x509Request
	conditions     []tree.Tree
	signer         string
	usages         []string
	hasCertificate bool
}

// x509Request parses the request on first use. Most requests are never parsed, because they are
// finished or have other signers.
func (r *signingRequest) x509Request() (*x509.CertificateRequest, error) {
	if r.parsed != nil {
		return r.parsed, nil
	}
	var err error
	r.parsed, err = certs.ParseRequest(r.spec.String("request"))
	return r.parsed, err
}

// requester returns the user who created the request. Only the server sets these fields, so they
// are safe to use for authorization.
func (r *signingRequest) requester() *authn.User { return authn.ReadUser(r.spec, "username") }

func (r *signingRequest) has(kind string) bool { return tree.ConditionIn(r.conditions, kind) != nil }

// with returns the request's conditions plus a new one, because a merge patch replaces the whole
// list. The server sets the timestamps of the new condition.
func (r *signingRequest) with(kind, reason, message string) []any {
	return append(tree.ListOf(r.conditions), tree.Tree{"type": kind, "status": "True", "reason": reason, "message": message})
}

type requests struct {
	*reconcile.Controller[string]
	client reconcile.Client
	now    func() time.Time
}

// newRequests returns the common part of the certificate controllers. Each controller has its own
// work queue, so that a slow controller does not delay others.
func newRequests(env *reconcile.Env, sync func(context.Context, string) error, failed string) requests {
	return requests{
		reconcile.New(env, "certificate", sync, failed, "request"), env.Client(group, "v1", "CertificateSigningRequest"), time.Now,
	}
}

func (r *requests) addUpdated() {
	r.Watch(r.client, reconcile.Updates(func(o *meta.Object) { r.Add(o.Key.Name) }))
}

func (r *requests) read(ctx context.Context, name string) (*signingRequest, error) {
	o, err := r.client.GetNamed(ctx, "", name)
	if err != nil || o == nil {
		return nil, err
	}
	return r.parse(o)
}

func (r *requests) parse(o *meta.Object) (*signingRequest, error) {
	object, err := r.client.Decode(o)
	if err != nil {
		return nil, err
	}
	spec, status := object.Object("spec"), object.Object("status")
	return &signingRequest{
		object: o, created: reconcile.Time(object.Object("metadata"), "creationTimestamp"), spec: spec, status: status, conditions: status.Objects("conditions"),
		signer: spec.String("signerName"), usages: spec.Strings("usages"), hasCertificate: status.String("certificate") != "",
	}, nil
}

// write patches the request. It returns a conflict if the request has changed since it was read,
// because the change may be a denial.
func (r *requests) write(ctx context.Context, of *signingRequest, subresource string, status tree.Tree) error {
	return r.client.Patch(ctx, of.object, subresource, tree.Tree{"status": status})
}
