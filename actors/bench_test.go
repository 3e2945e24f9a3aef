package actors_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// BenchmarkCreate creates ConfigMaps of 1 KiB by 32 writers.
func BenchmarkCreate(b *testing.B) {
	h := open(b, b.TempDir(), nil)
	defer h.close()
	kind, value := h.kind("configmaps"), strings.Repeat("x", 1024)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			name := fmt.Sprint("c", n.Add(1))
			_, err := h.Mutate(context.Background(), request.Mutation{
				Verb: request.Create, Kind: kind, Key: meta.Key{Namespace: "default", Name: name},
				Object: schema.Tree{"metadata": schema.Tree{"name": name}, "data": schema.Tree{"v": value}},
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}
