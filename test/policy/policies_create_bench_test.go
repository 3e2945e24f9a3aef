package policy

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// BenchmarkCreate creates Pods without policies and with ten policies.
func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{0, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := client.Serve(b, b.TempDir(), nil)
			send := func(path, body string) {
				if a, err := s.Do(b.Context(), http.MethodPost, path, client.JSON, []byte(body)); err != nil || a.Code != 201 {
					b.Errorf("%s: %v, %v", body, a, err)
				}
			}
			for i := range n {
				send(admissionPath+"v1/validatingadmissionpolicies", fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"matchConstraints":%s,"validations":[{"expression":"object.spec.containers.all(c, !c.image.endsWith(':%d'))"}]}}`, i, rules("CREATE", "", "v1", "pods"), i))
				send(admissionPath+"v1/validatingadmissionpolicybindings", fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"policyName":"p%d","validationActions":["Deny"]}}`, i, i))
			}
			var last atomic.Int64
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					send(pods, fmt.Sprintf(`{"metadata":{"name":"p%d","labels":{"app":"a"}},"spec":{"containers":[{"name":"a","image":"registry.example.com/a"},{"name":"b","image":"registry.example.com/b"}]}}`, last.Add(1)))
				}
			})
		})
	}
}
