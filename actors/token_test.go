package actors

import "testing"

// FuzzToken checks that decodeToken rejects a text or returns a token that survives a round trip.
func FuzzToken(f *testing.F) {
	for _, t := range []token{
		{Resource: "configmaps", Namespace: "default", Version: 5, Next: "default\x00a"}, {Resource: "leases.coordination.platform.io", Newest: true, Next: "x"}, {}, {Version: 1, Newest: true, Next: "\xff"},
	} {
		f.Add(encodeToken(t))
	}
	f.Add("")
	f.Add("e30")
	f.Add("%%%")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decodeToken(text)
		if err != nil {
			return
		}
		if again, err := decodeToken(encodeToken(got)); err != nil || again != got {
			t.Errorf("%q is %+v, and that %+v (%v)", text, got, again, err)
		}
	})
}
