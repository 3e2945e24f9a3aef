package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

func TestCache(t *testing.T) {
	c := policy.NewCache(meta.GroupResource{Resource: "limitranges"}, func(o *policy.Object) string { return o.Meta.UID })
	cluster := newCluster(t, nil)
	if err := c.Follow(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"x/b 1", "x/a 2", "y/a 3", "x/b 4", "x/c 5", "x/c", "y/a", "z/a"} { // a change without a UID is a delete
		key, uid, ok := strings.Cut(change, " ")
		text := ""
		if ok {
			text = `{"metadata":{"uid":"` + uid + `"}}`
		}
		cluster.set(t, "limitranges "+key, text)
	}
	var got []string
	for _, namespace := range []string{"x", "y", "z"} {
		c.Each(namespace, func(name, value string) bool {
			got = append(got, fmt.Sprint(namespace, name, value))
			return true
		})
	}
	if strings.Join(got, " ") != "xa2 xb4" {
		t.Error(got)
	}
	c.Each("x", func(name, _ string) bool {
		got = append(got, name)
		return false
	})
	if got[len(got)-1] != "a" {
		t.Error("it goes on after false")
	}
	if v, ok := c.Get("x", "b"); v != "4" || !ok {
		t.Error(v, ok)
	}
	if !c.Has("x") || c.Has("y") {
		t.Error("it does not know where it has values")
	}
	if v, ok := c.Get("y", "a"); v != "" || ok {
		t.Error(v, ok)
	}
}
