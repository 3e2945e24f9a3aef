package actors_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestWritersReadTheirWrites(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			kind := h.kind([]string{"configmaps", "secrets"}[w%2])
			key := meta.Key{Namespace: "default", Name: fmt.Sprint("w", w)}
			for i := range 200 {
				m := request.Mutation{Kind: kind, Key: key, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": key.Name}}}}
				if i > 0 {
					m = request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"metadata":{"labels":{"i":"%d"}}}`, i)}, Kind: kind, Key: key}
				}
				written, err := h.Mutate(context.Background(), m)
				if err != nil {
					t.Error(err)
					return
				}
				read, err := h.Get(context.Background(), request.Get{Kind: kind, Key: key})
				if err != nil || read.Version != written.Object.Version {
					t.Errorf("version %d was written, and then read: %v, %v", written.Object.Version, read, err)
					return
				}
				list, err := h.List(context.Background(), request.List{Kind: kind})
				if err != nil || list.Version < written.Object.Version {
					t.Errorf("version %d was written, and then listed: %d, %v", written.Object.Version, list.Version, err)
					return
				}
			}
		})
	}
	writers.Wait()
}
