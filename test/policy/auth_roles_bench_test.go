package policy

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// BenchmarkRoleTakesEffect measures the time from the creation of a role binding until a
// SubjectAccessReview allows a granted request. It sends one review at a time.
func BenchmarkRoleTakesEffect(b *testing.B) {
	s := client.Serve(b, filepath.Join(b.TempDir(), "data"), nil)
	post := func(path, body string) string {
		b.Helper()
		a, err := s.Do(b.Context(), http.MethodPost, path, client.JSON, []byte(body))
		if err != nil || a.Code != http.StatusCreated {
			b.Fatalf("%s: %v %s", path, err, a)
		}
		return string(a.Body)
	}
	var lag, most time.Duration
	reviews, n := 0, 0
	for b.Loop() {
		n++
		user := fmt.Sprintf("user%d", n)
		post(rbacPath+"/namespaces/default/rolebindings", bound(user, "ClusterRole/view", user))
		began := time.Now()
		for {
			reviews++
			review := post(reviewPath+"/subjectaccessreviews", `{"spec":{"user":"`+user+`","resourceAttributes":{"verb":"list","resource":"pods","namespace":"default"}}}`)
			if strings.Contains(review, `"allowed":true`) {
				break
			}
		}
		lag += time.Since(began)
		most = max(most, time.Since(began))
	}
	b.ReportMetric(float64(lag.Microseconds())/float64(n), "µs/effect")
	b.ReportMetric(float64(most.Microseconds()), "µs-most")
	b.ReportMetric(float64(reviews)/float64(n), "reviews/effect")
}
