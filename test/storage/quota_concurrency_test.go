package storage

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

const creators = 64

// TestCreators checks that concurrent creates succeed exactly up to the quota, while clients also
// send dry runs and invalid requests. The test covers promise 42 of docs/reliability.md.
func TestCreators(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"pods":"40","count/configmaps":"40"}`)
	n.quota("wide", `"hard":{"pods":"1000"}`)
	const full = "exceeded quota: q, requested: pods=1, used: pods=40, limited: pods=40"
	create := func(round int) int {
		end := meanwhile(4, func(i, k int) {
			n.dryRun(fmt.Sprintf("dry-%d-%d", i, k))
			if a, err := n.Do(n.Ctx, "POST", n.path("pods"), client.JSON, []byte(`{"metadata":{"name":"invalid"},"spec":{"containers":[]}}`)); err != nil || a.Code != 422 {
				t.Errorf("an invalid Pod: %v, %v", a, err)
			}
		})
		defer end()
		return each(creators, func(i int) bool {
			created := false
			for k := range 3 {
				switch why := n.try("pods", podQuota(fmt.Sprintf("p-%d-%d-%d", round, i, k), "")); why {
				case "":
					created = true
				case full:
					return created
				default:
					t.Errorf("refused: %s", why)
				}
			}
			return created
		})
	}
	create(0)
	if got := n.count("pods"); got != 40 {
		t.Fatalf("%d Pods, want 40", got)
	}
	for round := 1; round < 6; round++ {
		free := 5 * round
		list := must.Get(n.List(n.Ctx, n.path("pods"), nil))(t)
		each(free, func(i int) bool {
			a, err := n.Delete(n.Ctx, n.path("pods")+"/"+list.Items[i].Name(), nil)
			if err != nil || a.Code != 200 {
				t.Errorf("delete: %v, %v", a, err)
			}
			return true
		})
		create(round)
		if got := n.count("pods"); got != 40 {
			t.Fatalf("round %d: %d Pods, want 40", round, got)
		}
	}
	n.used("q", "pods=40,count/configmaps=0")
	n.used("wide", "pods=40")
}

func (n namespace) dryRun(name string) {
	a, err := n.Do(n.Ctx, "POST", n.path("pods")+"?dryRun=All", client.JSON, []byte(podQuota(name, "")))
	for err == nil && a.Code == 504 { // the replica lags behind the others under load
		a, err = n.Do(n.Ctx, "POST", n.path("pods")+"?dryRun=All", client.JSON, []byte(podQuota(name, "")))
	}
	if err != nil || a.Code != 201 && a.Code != 403 {
		n.T.Errorf("dry run: %v, %v", a, err)
	}
}

// TestEveryWayToCreate checks a quota during concurrent creates, generateName creates and applies.
// After a deletecollection, creates must succeed again.
func TestEveryWayToCreate(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"configmaps":"30"}`)
	create := []func(i int) string{
		func(int) string { return n.try("configmaps", `{"metadata":{"generateName":"g-"}}`) },
		func(i int) string {
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a-%d"}}`, i)
			return n.refusal(n.Do(n.Ctx, "PATCH", fmt.Sprintf("%s/a-%d?fieldManager=m", n.path("configmaps"), i), "application/apply-patch+yaml", []byte(body)))
		},
		func(i int) string { return n.try("configmaps", configMap(fmt.Sprintf("c-%d", i))) },
	}
	for round := range 3 {
		got := each(creators, func(i int) bool { return create[(i+round)%3](i) == "" })
		if have := n.count("configmaps"); got != 30 || have != 30 {
			t.Fatalf("round %d: %d created, %d there, want 30", round, got, have)
		}
		n.used("q", "configmaps=30")
		n.Send(200, "DELETE", n.path("configmaps"), client.JSON, "")
		if why := n.try("configmaps", configMap("after")); why != "" {
			t.Errorf("after all were deleted: %s", why)
		}
		n.Send(200, "DELETE", n.path("configmaps")+"/after", client.JSON, "")
	}
}

// TestOneObject checks that a quota counts concurrent updates of an object in order, even before
// they are durable.
func TestOneObject(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"services.nodeports":"4"}`)
	n.Send(201, "POST", n.path("services"), client.JSON, `{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"name":"a","port":1},{"name":"b","port":2},{"name":"c","port":3},{"name":"d","port":4}]}}`)
	each(creators, func(i int) bool {
		patch := `{"spec":{"type":"ClusterIP"}}`
		if i%2 == 0 {
			patch = `{"spec":{"type":"NodePort"}}`
		}
		for range 5 {
			if a, err := n.Patch(n.Ctx, n.path("services")+"/s", []byte(patch)); err != nil || a.Code != 200 {
				t.Errorf("there is room for this: %v, %v", a, err)
			}
		}
		return true
	})
	n.Send(200, "PATCH", n.path("services")+"/s", client.MergePatch, `{"spec":{"type":"ClusterIP"}}`)
	n.used("q", "services.nodeports=0")
}

// TestQuotaUnderLoad creates, raises and lowers a quota under load. Once a change is acknowledged,
// the limit must not be exceeded. The test covers promise 42 of docs/reliability.md.
func TestQuotaUnderLoad(t *testing.T) {
	t.Parallel()
	n := open(t)
	end := meanwhile(creators, func(i, k int) {
		name := fmt.Sprintf("c-%d-%d", i, k)
		created := n.try("configmaps", configMap(name)) == ""
		if created && k >= 3 {
			if a, err := n.Delete(n.Ctx, n.path("configmaps")+"/"+name, nil); err != nil || a.Code != 200 {
				t.Errorf("delete: %v, %v", a, err)
			}
		}
	})
	defer end() // ends before the context, to keep the first error distinct from cancellations
	client.Eventually(t, func() error {
		if there := n.count("configmaps"); there < 100 {
			return fmt.Errorf("%d ConfigMaps", there)
		}
		return nil
	})
	n.quota("q", `"hard":{"configmaps":"200"}`)
	n.neverAbove(200)
	n.Send(200, "PATCH", n.path("resourcequotas")+"/q", client.MergePatch, `{"spec":{"hard":{"configmaps":"230"}}}`)
	n.neverAbove(230)
	n.Send(200, "PATCH", n.path("resourcequotas")+"/q", client.MergePatch, `{"spec":{"hard":{"configmaps":"195","secrets":"1"}}}`)
	n.neverAbove(195)
	end()
	n.used("q", fmt.Sprintf("configmaps=%d,secrets=0", n.count("configmaps")))
}

// neverAbove watches ConfigMaps for 300 events. It checks that their number never exceeds the
// limit, or the initial number if that is greater.
func (n namespace) neverAbove(limit int) {
	n.T.Helper()
	list := must.Get(n.List(n.Ctx, n.path("configmaps"), nil))(n.T)
	w := must.Get(n.Watch(n.Ctx, n.path("configmaps"), url.Values{"resourceVersion": {strconv.FormatUint(list.Version, 10)}}))(n.T)
	defer w.Close()
	there := len(list.Items)
	limit = max(limit, there)
	for range 300 { // more events than ConfigMaps can exist
		e := must.Get(w.Next())(n.T)
		switch e.Type {
		case "ADDED":
			there++
		case "DELETED":
			there--
		}
		if there > limit {
			n.T.Fatalf("%d ConfigMaps, limited to %d", there, limit)
		}
	}
}

// TestManyQuotas checks that a request rejected by one quota does not count against others.
func TestManyQuotas(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("a", `"hard":{"secrets":"100"}`)
	n.quota("b", `"hard":{"secrets":"7","count/secrets":"9"}`)
	each(creators, func(i int) bool {
		why := n.try("secrets", fmt.Sprintf(`{"metadata":{"name":"s-%d"}}`, i))
		return why == "" || strings.HasPrefix(why, "exceeded quota: b, requested: secrets=1, used: secrets=7,")
	})
	n.used("a", "secrets=7")
	n.used("b", "secrets=7,count/secrets=7")
}
