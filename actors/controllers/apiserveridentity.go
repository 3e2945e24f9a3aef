package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// APIServerIdentity keeps a Lease in the namespace of the system that tells of this server, as long as it runs, and deletes
// those of servers that have ended without a word.
type APIServerIdentity struct {
	*Env
	leases  reconcile.Client
	key     meta.Key
	labels  tree.Tree
	servers selector.Labels // selects the Leases of all servers
	holder  string
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
func NewAPIServerIdentity(env *Env, hostname string) *APIServerIdentity {
	component, label := env.Translate("platform-apiserver"), env.Translate("apiserver.platform.io/identity")
	a := &APIServerIdentity{Env: env, leases: env.Client("coordination.platform.io", "v1", "Lease").As(component), labels: tree.Tree{label: component}}
	if rules.LabelValue(hostname) == nil {
		a.labels[env.Translate("platform.io/hostname")] = hostname
	}
	name := identityName(hostname)
	a.holder = name + "_" + uuid.NewString()
	a.servers, _ = selector.FromLabelSelector(tree.Tree{"matchLabels": tree.Tree{label: component}})
	if a.leases.Kind != nil {
		a.key = a.leases.Key(env.SystemNamespace(), name)
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
	if a.leases.Kind == nil {
		return // the group is disabled
	}
	var running sync.WaitGroup
	running.Go(func() {
		reconcile.Every(ctx, identityLook, func(ctx context.Context) {
			a.report(ctx, "deleting the Leases of former servers", a.deleteExpired(ctx))
		})
	})
	reconcile.Every(ctx, identityRenewal, func(ctx context.Context) { a.report(ctx, "renewing the Lease of this server", a.renew(ctx)) })
	running.Wait()
	a.leave()
}

// report logs an error. What failed is done again at the next time.
func (a *APIServerIdentity) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		a.Log.Warn(what, "lease", a.key.Name, "error", err)
	}
}

// renew writes the Lease, whether there is one or not. One of an earlier life of this server is taken over.
func (a *APIServerIdentity) renew(ctx context.Context) error {
	return a.leases.Apply(ctx, a.key, "", tree.Tree{
		"metadata": tree.Tree{"labels": tree.Clone(a.labels)},
		"spec": tree.Tree{
			"holderIdentity": a.holder, "leaseDurationSeconds": int64(identityDuration / time.Second),
			"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		},
	})
}

// leave deletes the Lease, if it is still that of this server.
func (a *APIServerIdentity) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), identityGoodbye)
	defer cancel()
	o, lease, err := a.leases.Read(ctx, a.key)
	if err == nil && o != nil && lease.Object("spec").String("holderIdentity") == a.holder {
		a.report(ctx, "deleting the Lease of this server", a.leases.Delete(ctx, o))
	}
}

// deleteExpired deletes the Leases of servers that have not renewed them in time, or lack what is needed to tell.
func (a *APIServerIdentity) deleteExpired(ctx context.Context) error {
	all, err := a.leases.List(ctx, request.List{Namespace: a.key.Namespace, Labels: a.servers})
	if err != nil {
		return err
	}
	for _, o := range all {
		lease, err := a.leases.Decode(o)
		if err != nil || !isExpired(lease.Object("spec"), time.Now()) {
			continue
		}
		if err := a.leases.Delete(ctx, o); err != nil && !reconcile.IsConflict(err) {
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
