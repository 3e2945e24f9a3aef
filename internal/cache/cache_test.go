package cache_test

import (
	"testing"

	"github.com/troupe-api/troupe/internal/cache"
)

func TestCache(t *testing.T) {
	c := cache.New[int, string](10)
	c.Put(0, "favorite", 1)
	c.Put(1, "too large", 6)
	if _, ok := c.Get(1); ok {
		t.Error("a value larger than half of the bound is kept")
	}
	for i := 2; i < 100; i++ {
		c.Put(i, "value", 1)
		if v, ok := c.Get(i); !ok || v != "value" {
			t.Fatalf("value %d is gone at once", i)
		}
		if v, ok := c.Get(0); !ok || v != "favorite" {
			t.Fatalf("the value that is read all the time is gone after %d others", i)
		}
		if n := c.Len(); n > 10 {
			t.Fatalf("%d values are kept", n)
		}
	}
	if _, ok := c.Get(2); ok {
		t.Error("no value is dropped")
	}
}
