package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

// changes implements Objects with the changes of one resource.
type changes []policy.Change

func (changes) Get(meta.GroupResource, string, string) *policy.Object { return nil }

func (c changes) Inform(_ context.Context, _ meta.GroupResource, onChange func(policy.Change)) error {
	for _, one := range c {
		onChange(one)
	}
	return nil
}

func change(namespace, name, uid string, deleted bool) policy.Change {
	return policy.Change{Object: &policy.Object{Key: meta.Key{Namespace: namespace, Name: name}, Meta: meta.ObjectMeta{UID: uid}}, Deleted: deleted}
}

func TestCache(t *testing.T) {
	c := policy.NewCache(meta.GroupResource{Resource: "limitranges"}, func(o *policy.Object) string { return o.Meta.UID })
	err := c.Follow(t.Context(), changes{
		change("x", "b", "1", false), change("x", "a", "2", false), change("y", "a", "3", false), change("x", "b", "4", false),
		change("x", "c", "5", false), change("x", "c", "", true), change("y", "a", "", true), change("z", "a", "", true),
	})
	if err != nil {
		t.Fatal(err)
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
