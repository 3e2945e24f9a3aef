package certificates

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

const podRequestLifetime = 15 * time.Minute

// PodRequestCleaner deletes old PodCertificateRequests. Their certificates stay valid.
type PodRequestCleaner struct {
	*reconcile.Controller[podRequest]
}

type podRequest struct {
	key meta.Key
	uid string
}

func NewPodRequestCleaner(env *reconcile.Env) PodRequestCleaner {
	client := env.Client(group, "v1", "PodCertificateRequest")
	c := PodRequestCleaner{reconcile.New(env, "", func(ctx context.Context, r podRequest) error {
		return reconcile.Except(client.DeleteKey(ctx, r.key, request.Delete{UID: &r.uid}), reconcile.IsConflict)
	}, "cannot delete an old Pod certificate request", "request")}
	c.Watch(client, reconcile.Updates(func(o *meta.Object) {
		object, err := client.Decode(o)
		if err != nil {
			c.Log.Warn("cannot decode a Pod certificate request", "request", o.Key.String(), "error", err)
			return
		}
		c.AddAt(podRequest{o.Key, o.Meta.UID}, reconcile.Time(object.Object("metadata"), "creationTimestamp").Add(podRequestLifetime))
	}))
	return c
}
