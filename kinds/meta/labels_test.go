package meta

import (
	"fmt"
	"testing"
)

func TestLabels(t *testing.T) {
	for _, n := range []int{0, 1, linearSearchLimit, linearSearchLimit + 1, 50} {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprint("k", i)] = fmt.Sprint("v", i)
		}
		l := NewLabels(all)
		for key, want := range all {
			if got, ok := l.Get(key); !ok || got != want {
				t.Errorf("of %d, %s is %q, %t", n, key, got, ok)
			}
		}
		for _, key := range []string{"", "k", "k999", "z"} {
			if got, ok := l.Get(key); ok {
				t.Errorf("of %d, %s is %q", n, key, got)
			}
		}
	}
}
