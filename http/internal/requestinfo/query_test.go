package requestinfo

import "testing"

// FuzzQuery checks that lookups in any valid query find the parameters that next returns.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "watch", "a=b&a=c", "&&=&", "%61=%20+", "limit=9&limit=", "fieldSelector=metadata.name%3Da"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := Query(s)
		if !q.Valid() {
			return
		}
		first := map[string]string{}
		for rest := q; ; {
			key, value, after, ok := rest.next()
			if !ok {
				break
			}
			if _, seen := first[key]; !seen {
				first[key] = unescapeQuery(value)
			}
			rest = after
		}
		for key, want := range first {
			if got, ok := q.Lookup(key); !ok || got != want {
				t.Errorf("%q: %q is %q, want %q", s, key, got, want)
			}
		}
	})
}
