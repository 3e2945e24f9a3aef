package rbac_test

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// newBenchAuthorizer returns an authorizer with n bindings, four per namespace. Three bind a small
// role to a user, a group and a service account, and one binds a large role to a group.
func newBenchAuthorizer(b *testing.B, n int) (*fakeCluster, *rbac.Authorizer) {
	c := newFakeCluster()
	c.set(b, "clusterroles/small", role("get,list,watch core pods,configmaps", "get apps deployments"))
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("get,list,watch,create,update,patch,delete core,apps a%d,b%d,c%d,d%d/status", i, i, i, i))
	}
	c.set(b, "clusterroles/large", role(append(lines, "get * */scale")...))
	c.set(b, "clusterroles/discovery", role("get /api,/api/*,/apis,/apis/*"))
	c.set(b, "clusterrolebindings/discovery", binding("ClusterRole/discovery", "Group:system:authenticated"))
	a := c.authorizer(b)
	for i := range n {
		ns := fmt.Sprintf("ns%d", i/4)
		role, subject := "ClusterRole/small", fmt.Sprintf("User:user%d", i/4)
		switch i % 4 {
		case 1:
			subject = fmt.Sprintf("Group:group%d", i/4)
		case 2:
			subject = "ServiceAccount:" + ns + "/robot"
		case 3:
			role, subject = "ClusterRole/large", fmt.Sprintf("Group:all%d", i/4)
		}
		c.put(&policy.Object{Key: key(fmt.Sprintf("rolebindings/%s/b%d", ns, i)), Tree: parseTree(b, binding(role, subject))})
	}
	return c, a
}

var sizes = []int{1, 1000, 50_000}

func BenchmarkAuthorize(b *testing.B) {
	for _, n := range sizes {
		_, a := newBenchAuthorizer(b, n)
		at := max(0, n-2) / 4
		user := &authn.User{Name: fmt.Sprintf("user%d", at), Groups: []string{
			"devs", fmt.Sprintf("group%d", at), fmt.Sprintf("all%d", at), "system:authenticated",
		}}
		ns := fmt.Sprintf("ns%d", at)
		for _, c := range []struct {
			name string
			a    authz.Attributes
			want authz.Decision
		}{
			{"allowed", authz.Attributes{User: user, Verb: "list", ResourceRequest: true, Resource: "configmaps", Namespace: ns}, authz.Allow},
			{"refused", authz.Attributes{User: user, Verb: "list", ResourceRequest: true, Resource: "secrets", Namespace: ns}, authz.NoOpinion},
			{"path", authz.Attributes{User: user, Verb: "get", Path: "/apis/apps/v1"}, authz.Allow},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d, _ := a.Authorize(c.a); d != c.want {
						b.Fatal(d)
					}
				}
			})
		}
	}
}

// BenchmarkChange measures the time until a changed binding or role takes effect.
func BenchmarkChange(b *testing.B) {
	for _, n := range sizes {
		c, _ := newBenchAuthorizer(b, n)
		with := &policy.Object{Key: key("rolebindings/ns0/b0"), Tree: parseTree(b, binding("ClusterRole/small", "User:user0", "User:other"))}
		without := &policy.Object{Key: with.Key, Tree: parseTree(b, binding("ClusterRole/small", "User:user0"))}
		small := &policy.Object{Key: key("clusterroles/small"), Tree: parseTree(b, role("get,list,watch core pods,configmaps"))}
		b.Run(fmt.Sprintf("%d/binding", n), func(b *testing.B) {
			for b.Loop() {
				c.put(with)
				c.put(without)
			}
		})
		b.Run(fmt.Sprintf("%d/role", n), func(b *testing.B) {
			for b.Loop() {
				c.put(small)
			}
		})
	}
}
