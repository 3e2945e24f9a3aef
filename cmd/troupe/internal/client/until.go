package client

import (
	"context"
	"errors"
	"net/url"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// until lists and watches an object until holds returns true. holds receives nil if the object does
// not exist.
func (s *session) until(ctx context.Context, r *discovery.Resource, namespace, name string, holds func(tree.Tree) (bool, error)) error {
	q := url.Values{"fieldSelector": {"metadata.name=" + name}}
	for {
		list, err := s.Get(ctx, r.Path(namespace, ""), q)
		if err != nil {
			return orContext(ctx, err)
		}
		var now tree.Tree
		if items := list.Objects("items"); len(items) > 0 {
			now = items[0]
		}
		if done, err := holds(now); done || err != nil {
			return err
		}
		err = s.follow(ctx, r, namespace, q, "", list.Object("metadata").String("resourceVersion"), func(e event) error {
			o := e.object
			if e.kind == "DELETED" {
				o = nil
			}
			done, err := holds(o)
			if done && err == nil {
				err = errStop
			}
			return err
		})
		if !rest.IsExpired(err) {
			return orContext(ctx, err)
		}
	}
}

func orContext(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errStop) {
		return ctx.Err()
	}
	return err
}
