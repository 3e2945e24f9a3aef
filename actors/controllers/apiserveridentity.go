package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServerIdentity keeps a Lease in the namespace of the system that tells of this server, as long as it runs, and deletes
// those of servers that have ended without a word.
type APIServerIdentity struct {
	store     Store
	kind      *schema.Kind
	key       meta.Key
	labels    tree.Tree
	component string          // field manager, and value of the label that the Leases of all servers have
	servers   selector.Labels // selects those
	holder    string
	logger    *slog.Logger
}

// The times of the Lease with which a server says that it is there. Renewals come much more often than the Lease needs, as
// kube-apiserver's do: whoever looks wants to know how recent the last one is.
const (
	identityDuration = time.Hour        // how long a Lease is valid without being renewed
	identityRenewal  = 10 * time.Second // the time between two renewals
	identityLook     = time.Hour        // the time between two looks for Leases that are not valid any more
	identityGoodbye  = time.Second      // for the delete at the end
)

// NewAPIServerIdentity returns the controller of a server on a host, after which the Lease is named.
func NewAPIServerIdentity(store Store, kinds *catalog.Catalog, hostname string, logger *slog.Logger) *APIServerIdentity {
	n := kinds.Naming()
	k := kinds.ByGVK(meta.GroupVersionKind{Group: n.Group("coordination"), Version: "v1", Kind: "Lease"})
	name, component := identityName(hostname), n.Translate("platform-apiserver")
	label := n.Translate("apiserver.platform.io/identity")
	labels := tree.Tree{label: component}
	if rules.LabelValue(hostname) == nil {
		labels[n.Translate("platform.io/hostname")] = hostname
	}
	a := &APIServerIdentity{
		store: store, kind: k, labels: labels, component: component, holder: name + "_" + uuid.NewString(), logger: logger,
	}
	a.servers, _ = selector.FromLabelSelector(tree.Tree{"matchLabels": tree.Tree{label: component}})
	if k != nil {
		a.key = meta.Key{GroupResource: k.Storage, Namespace: n.SystemNamespace(), Name: name}
	}
	return a
}

// identityName is the name of the Lease of a server on a host: a prefix, and half of a SHA-256 in base 32.
func identityName(hostname string) string {
	sum := sha256.Sum256([]byte(hostname))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

// Run runs the controller until the context ends, and then deletes the Lease.
func (a *APIServerIdentity) Run(ctx context.Context) {
	if a.kind == nil {
		return // the group is disabled
	}
	renew, look := time.NewTicker(identityRenewal), time.NewTicker(identityLook)
	defer renew.Stop()
	defer look.Stop()
	a.report(ctx, "renewing the Lease of this server", a.renew(ctx))
	a.report(ctx, "deleting the Leases of former servers", a.deleteExpired(ctx))
	for {
		select {
		case <-ctx.Done():
			a.leave()
			return
		case <-renew.C:
			a.report(ctx, "renewing the Lease of this server", a.renew(ctx))
		case <-look.C:
			a.report(ctx, "deleting the Leases of former servers", a.deleteExpired(ctx))
		}
	}
}

// report logs an error. What failed is done again at the next time.
func (a *APIServerIdentity) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		a.logger.Warn(what, "lease", a.key.Name, "error", err)
	}
}

// renew writes the Lease, whether there is one or not. One of an earlier life of this server is taken over.
func (a *APIServerIdentity) renew(ctx context.Context) error {
	_, err := a.store.Mutate(ctx, request.Mutation{
		Kind: a.kind, Key: a.key, FieldManager: a.component,
		Change: request.Apply{Config: tree.Tree{
			"apiVersion": a.kind.APIVersion(), "kind": a.kind.Kind,
			"metadata": tree.Tree{"name": a.key.Name, "namespace": a.key.Namespace, "labels": a.labels},
			"spec": tree.Tree{
				"holderIdentity": a.holder, "leaseDurationSeconds": int64(identityDuration / time.Second),
				"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
			},
		}, Force: true},
	})
	return err
}

// leave deletes the Lease, if it is still that of this server.
func (a *APIServerIdentity) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), identityGoodbye)
	defer cancel()
	o, err := a.store.Get(ctx, request.Get{Kind: a.kind, Key: a.key})
	if err != nil {
		return
	}
	if lease, err := codec.DecodeStored(a.kind.Message(), o.JSON); err != nil || lease.Object("spec").String("holderIdentity") != a.holder {
		return
	}
	a.report(ctx, "deleting the Lease of this server", reconcile.DeleteIfUnchanged(ctx, a.store, a.kind, o, ""))
}

// deleteExpired deletes the Leases of servers that have not renewed them in time, or lack what is needed to tell.
func (a *APIServerIdentity) deleteExpired(ctx context.Context) error {
	all, err := a.store.List(ctx, request.List{Kind: a.kind, Namespace: a.key.Namespace, Labels: a.servers})
	if err != nil {
		return err
	}
	for _, o := range all.Items {
		lease, err := codec.DecodeStored(a.kind.Message(), o.JSON)
		if err != nil || !isExpired(lease.Object("spec"), time.Now()) {
			continue
		}
		if err := reconcile.DeleteIfUnchanged(ctx, a.store, a.kind, o, ""); err != nil && !reconcile.IsConflict(err) {
			return err
		}
	}
	return nil
}

// isExpired reports whether a Lease has not been renewed in time.
func isExpired(spec tree.Tree, now time.Time) bool {
	renewed, err := time.Parse(time.RFC3339Nano, spec.String("renewTime"))
	seconds, ok := spec.Int("leaseDurationSeconds")
	return err != nil || !ok || renewed.Add(time.Duration(seconds)*time.Second).Before(now)
}
