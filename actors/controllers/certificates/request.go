package certificates

import (
	"context"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// Store is what the controllers need of the store.
type Store = reconcile.Store

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
	var all []any
	for _, c := range r.conditions {
		all = append(all, c)
	}
	return append(all, tree.Tree{"type": kind, "status": "True", "reason": reason, "message": message})
}

// requests is what the controllers of requests share: the kind, and the queue of names whose requests have changed.
type requests struct {
	store  Store
	kind   *schema.Kind
	queue  *reconcile.Workqueue[string]
	logger *slog.Logger
	now    func() time.Time
}

// newRequests makes what a controller works with. Each controller has a queue of its own, so a slow one delays no
// other.
func newRequests(store Store, kinds *catalog.Catalog, logger *slog.Logger) requests {
	gvk := meta.GroupVersionKind{Group: kinds.Naming().Translate(group), Version: "v1", Kind: "CertificateSigningRequest"}
	return requests{store: store, kind: kinds.ByGVK(gvk), queue: reconcile.NewWorkqueue[string]().Named("certificate"), logger: logger, now: time.Now}
}

// inform queues the name of each request that is there, now and whenever it changes, until the context ends.
func (r *requests) inform(ctx context.Context) {
	reconcile.RunInformer(ctx, r.store, r.kind, reconcile.UpdateHandlerFunc(func(o *meta.Object) { r.queue.Add(o.Key.Name) }))
}

// read reads the request of a name; nil if it is gone.
func (r *requests) read(ctx context.Context, name string) (*signingRequest, error) {
	o, err := r.store.Get(ctx, request.Get{Kind: r.kind, Key: meta.Key{GroupResource: r.kind.Storage, Name: name}})
	if reconcile.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(r.kind, o)
}

// parse decodes a request as it is stored. The certificate request in it is left as text; see x509Request.
func parse(k *schema.Kind, o *meta.Object) (*signingRequest, error) {
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return nil, err
	}
	spec, status := object.Object("spec"), object.Object("status")
	return &signingRequest{
		object: o, created: timeIn(object.Object("metadata"), "creationTimestamp"), spec: spec, status: status, conditions: status.Objects("conditions"),
		signer: spec.String("signerName"), usages: spec.Strings("usages"), hasCertificate: status.String("certificate") != "",
	}, nil
}

// timeIn reads a time of an object; zero if it has none.
func timeIn(t tree.Tree, field string) time.Time {
	at, _ := time.Parse(time.RFC3339, t.String(field))
	return at
}

// write changes the status of a request by one of its sub-resources, unless the request has changed. A request that
// has changed is an error, after which the queue has it read again: the change may be a denial.
func (r *requests) write(ctx context.Context, of *signingRequest, subresource string, status tree.Tree) error {
	return reconcile.PatchIfUnchanged(ctx, r.store, r.kind, of.object, subresource, tree.Tree{"status": status})
}
