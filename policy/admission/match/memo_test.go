package match

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/troupe-api/troupe/kinds/schema"
)

func kindOf(resource string) *schema.Kind {
	k := &schema.Kind{}
	k.Group, k.Version, k.Kind, k.Resource = "g", "v1", "K", resource
	k.Stored = k
	k.Versions = []*schema.Kind{k}
	return k
}

// TestMemo checks that a cached result is used only for its kind, and is removed once that kind no
// longer exists.
func TestMemo(t *testing.T) {
	var m memo[int]
	worked := 0
	get := func(k *schema.Kind, sub string) int {
		return m.get(k, sub, func() int { worked++; return worked })
	}
	k := kindOf("ks")
	for i, got := range []int{get(k, ""), get(k, ""), get(k, "status"), get(k, ""), get(kindOf("ks"), ""), get(k, "")} {
		if want := []int{1, 1, 2, 1, 3, 4}[i]; got != want {
			t.Errorf("question %d: %d, want %d", i, got, want)
		}
	}
	for i := range 50 * minSweep {
		get(kindOf(fmt.Sprint("k", i)), "")
		if i%minSweep == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	get(kindOf("last"), "")
	if m.size > 4*minSweep || get(k, "status") != 2 {
		t.Errorf("%d are known in the end", m.size)
	}
	runtime.KeepAlive(k)
}

func TestCriteriaKeepNoKind(t *testing.T) {
	c := &Criteria{everything: true}
	k := kindOf("ks")
	if !c.Selects(k, "") {
		t.Fatal("everything does not hold it")
	}
	gone := weak.Make(k)
	k = nil
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the kind is kept")
	}
	runtime.KeepAlive(c)
}
