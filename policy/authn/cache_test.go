package authn_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
)

func TestCacheExpiry(t *testing.T) {
	clock := now
	c := authn.NewCache[string](4, func() time.Time { return clock })
	a, b := authn.DigestOf("a"), authn.DigestOf("b")
	c.Put(a, "one", now.Add(time.Minute))
	c.Put(b, "two", now.Add(time.Hour))
	clock = now.Add(time.Minute - 1)
	if v, ok := c.Get(a); !ok || v != "one" {
		t.Errorf("before its time: %q, %t", v, ok)
	}
	clock = now.Add(time.Minute)
	if v, ok := c.Get(a); ok {
		t.Errorf("at its time: %q", v)
	}
	if v, ok := c.Get(b); !ok || v != "two" {
		t.Errorf("the other: %q, %t", v, ok)
	}
}

func TestCacheIsBounded(t *testing.T) {
	clock := now
	c := authn.NewCache[int](100, func() time.Time { return clock })
	digest := func(i int) authn.Digest { return authn.DigestOf(strconv.Itoa(i)) }
	kept := func(from, to int) (n int) {
		for i := from; i < to; i++ {
			if v, ok := c.Get(digest(i)); ok && v == i {
				n++
			}
		}
		return n
	}
	for i := range 1000 {
		c.Put(digest(i), i, now.Add(time.Hour))
		if _, ok := c.Get(digest(i)); !ok {
			t.Fatalf("%d was not kept", i)
		}
	}
	if n := kept(0, 1000); n < 70 || n > 100 {
		t.Errorf("%d answers are kept, the bound is 100", n)
	}
	clock = now.Add(2 * time.Hour) // expired entries are evicted first
	for i := 1000; i < 1100; i++ {
		c.Put(digest(i), i, now.Add(3*time.Hour))
	}
	if n := kept(1000, 1100); n != 100 {
		t.Errorf("%d of 100 fresh answers are kept", n)
	}
}

func TestDigestsDiffer(t *testing.T) {
	seen := map[authn.Digest]bool{}
	for _, d := range []authn.Digest{
		authn.DigestOf("t"), authn.DigestOf("t", "a"), authn.DigestOf("t", "a", "b"), authn.DigestOf("t", "ab"),
		authn.DigestOf("ta"), authn.DigestOf("t", "b", "a"), authn.DigestOf(""), authn.DigestOf("t", ""),
	} {
		if seen[d] {
			t.Errorf("%x comes twice", d)
		}
		seen[d] = true
	}
}

func TestDigestIsInjective(t *testing.T) {
	seen := map[authn.Digest]int{}
	for n, texts := range [][]string{
		{"a"}, {"a", ""}, {"a", "b"}, {"ab"}, {"ab", ""}, {"a\x00b"}, {"a\x00b", "c"}, {"a", "b\x00c"}, {"a", "b", "c"}, {"a", "bc"},
		{"1:a", "b"}, {"1", "a1:b"}, {"a", "1:b"},
	} {
		d := authn.DigestOf(texts[0], texts[1:]...)
		if other, ok := seen[d]; ok {
			t.Errorf("cases %d and %d are one", other, n)
		}
		seen[d] = n
	}
}
