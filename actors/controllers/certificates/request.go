package certificates

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// group is the API group of requests and bundles, in platform form.
const group = "certificates.platform.io"

// The conditions of a request. Their status is always True.
const (
	approved = "Approved"
	denied   = "Denied"
	failed   = "Failed"
)

// A signingRequest is a CertificateSigningRequest as it was read.
type signingRequest struct {
	object         *meta.Object
	created        time.Time
	spec, status   tree.Tree
	parsed         *x509.CertificateRequest // by x509Request
	conditions     []tree.Tree
	signer         string
	usages         []string
	hasCertificate bool
}

// x509Request is the request proper. It is parsed when it is first needed: most requests that are read are over, or
// are for other signers.
func (r *signingRequest) x509Request() (*x509.CertificateRequest, error) {
	if r.parsed != nil {
		return r.parsed, nil
	}
	var err error
	r.parsed, err = certs.ParseRequest(r.spec.String("request"))
	return r.parsed, err
}

// requester is who asks, as the server has noted it. Users cannot write these fields, so they can be asked about as
// if the user were there.
func (r *signingRequest) requester() *authn.User { return authn.ReadUser(r.spec, "username") }

// has tells whether a condition is there. Its status is not looked at, as it is always True.
func (r *signingRequest) has(kind string) bool { return condition.FindIn(r.conditions, kind) != nil }

// with are the conditions and one more. The server fills in its times. All are written, since a patch replaces the
// list as a whole.
func (r *signingRequest) with(kind, reason, message string) []any {
	return append(tree.ListOf(r.conditions), tree.Tree{"type": kind, "status": "True", "reason": reason, "message": message})
}

// requests is what the controllers of requests share: the kind, and the queue of names whose requests have changed.
type requests struct {
	*reconcile.Controller[string]
	client reconcile.Client
	now    func() time.Time
}

// newRequests makes what a controller works with. Each controller has a queue of its own, so a slow one delays no
// other.
func newRequests(env *reconcile.Env, sync func(context.Context, string) error, failed string) requests {
	return requests{
		reconcile.New(env, "certificate", sync, failed, "request"), env.Client(group, "v1", "CertificateSigningRequest"), time.Now,
	}
}

// inform queues the name of each request that is there, now and whenever it changes, until the context ends.
func (r *requests) addUpdated() {
	r.Watch(r.client, reconcile.Updates(func(o *meta.Object) { r.Add(o.Key.Name) }))
}

// read reads the request of a name; nil if it is gone.
func (r *requests) read(ctx context.Context, name string) (*signingRequest, error) {
	o, err := r.client.GetNamed(ctx, "", name)
	if err != nil || o == nil {
		return nil, err
	}
	return r.parse(o)
}

// parse decodes a request as it is stored. The certificate request in it is left as text; see x509Request.
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

// write changes the status of a request by one of its sub-resources, unless the request has changed. A request that
// has changed is an error, after which the queue has it read again: the change may be a denial.
func (r *requests) write(ctx context.Context, of *signingRequest, subresource string, status tree.Tree) error {
	return r.client.Patch(ctx, of.object, subresource, tree.Tree{"status": status})
}
