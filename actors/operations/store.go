package operations

import (
	"context"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Store is the part of actors.Store that operations need. Errors are *meta.Status.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
}

func decode(k *schema.Kind, o *meta.Object) (tree.Tree, error) {
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	return object, nil
}

func isConflict(err error) bool {
	return err != nil && meta.AsStatus(err).Code == http.StatusConflict
}
