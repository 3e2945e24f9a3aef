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

// A Store is what operations need of the store. Errors are *meta.Status.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
}

// decode decodes an object of kind k.
func decode(k *schema.Kind, o *meta.Object) (tree.Tree, error) {
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	return object, nil
}

// isConflict tells whether an error says that an object has changed meanwhile.
func isConflict(err error) bool {
	return err != nil && meta.AsStatus(err).Code == http.StatusConflict
}
