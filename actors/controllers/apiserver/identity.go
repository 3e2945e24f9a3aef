package apiserver

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

// Identity maintains a Lease for this server in the system namespace. It also deletes the expired
// Leases of crashed servers.
type Identity struct {
	*reconcile.Env
	leases  reconcile.Client
	key     meta.Key
	labels  tree.Tree
	servers selector.Labels // selects the Leases of all servers
	holder  string
}

// Timing of a server's Lease. As in kube-apiserver, renewals are much more frequent than the
// duration requires, because clients use the last renewal to determine liveness.
const (
	identityDuration = time.Hour        // how long a Lease is valid without renewal
	identityRenewal  = 10 * time.Second // between renewals
	identityLook     = time.Hour        // between checks for expired Leases
	identityGoodbye  = time.Second      // timeout of the delete at shutdown
)

// NewIdentity returns a controller whose Lease is named after hostname.
func NewIdentity(env *reconcile.Env, hostname string) *Identity {
	component, label := env.Translate("platform-apiserver"), env.Translate("apiserver.platform.io/identity")
	i := &Identity{Env: env, leases: env.Client("coordination.platform.io", "v1", "Lease").As(component), labels: tree.Tree{label: component}}
	if rules.LabelValue(hostname) == nil {
		i.labels[env.Translate("platform.io/hostname")] = hostname
	}
	name := ID(hostname)
	i.holder = name + "_" + uuid.NewString()
	i.servers, _ = selector.FromLabelSelector(tree.Tree{"matchLabels": tree.Tree{label: component}})
	if i.leases.Kind != nil {
		i.key = i.leases.Key(env.SystemNamespace(), name)
	}
	return i
}

// ID returns the ID of a server, which names its Lease. It consists of a prefix and half of the
// hostname's SHA-256 in base32.
func ID(hostname string) string {
	sum := sha256.Sum256([]byte(hostname))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

// Run maintains the Lease until ctx is done, and then deletes it.
func (i *Identity) Run(ctx context.Context) {
	if i.leases.Kind == nil {
		return // the group is disabled
	}
	var running sync.WaitGroup
	running.Go(func() {
		reconcile.Every(ctx, identityLook, func(ctx context.Context) {
			i.report(ctx, "cannot delete the Leases of former servers", i.deleteExpired(ctx))
		})
	})
	reconcile.Every(ctx, identityRenewal, func(ctx context.Context) { i.report(ctx, "cannot renew the Lease of this server", i.renew(ctx)) })
	running.Wait()
	i.leave()
}

func (i *Identity) report(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
		i.Log.Warn(what, "lease", i.key.Name, "error", err)
	}
}

func (i *Identity) renew(ctx context.Context) error {
	return i.leases.Apply(ctx, i.key, "", tree.Tree{
		"metadata": tree.Tree{"labels": tree.Clone(i.labels)},
		"spec": tree.Tree{
			"holderIdentity": i.holder, "leaseDurationSeconds": int64(identityDuration / time.Second),
			"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		},
	})
}

func (i *Identity) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), identityGoodbye)
	defer cancel()
	o, lease, err := i.leases.Read(ctx, i.key)
	if err == nil && o != nil && lease.Object("spec").String("holderIdentity") == i.holder {
		i.report(ctx, "cannot delete the Lease of this server", i.leases.Delete(ctx, o))
	}
}

func (i *Identity) deleteExpired(ctx context.Context) error {
	all, err := i.leases.List(ctx, request.List{Namespace: i.key.Namespace, Labels: i.servers})
	if err != nil {
		return err
	}
	for _, o := range all {
		lease, err := i.leases.Decode(o)
		if err != nil || !isExpired(lease.Object("spec"), time.Now()) {
			continue
		}
		if err := i.leases.Delete(ctx, o); err != nil && !reconcile.IsConflict(err) {
			return err
		}
	}
	return nil
}

func isExpired(spec tree.Tree, now time.Time) bool {
	renewed, err := time.Parse(time.RFC3339Nano, spec.String("renewTime"))
	seconds, ok := spec.Int("leaseDurationSeconds")
	return err != nil || !ok || renewed.Add(time.Duration(seconds)*time.Second).Before(now)
}
