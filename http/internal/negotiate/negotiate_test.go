package negotiate

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// FuzzAccept: any Accept header is answered in a format that is there, or by a 406.
func FuzzAccept(f *testing.F) {
	for _, accept := range []string{
		"", "*/*", "application/json;q=0.5,application/yaml", "application/json;as=Table;g=meta.platform.io;v=v1, application/json", "application/vnd.platform.protobuf;as=PartialObjectMetadata;g=meta.platform.io;v=v1",
		"application/json;q=nan", "application/cbor, application/json;q=0.9", ",;,=", "application/json;as=;v=", "text/html",
	} {
		f.Add(accept, true, false)
		f.Add(accept, false, true)
	}
	names := NewNames(meta.Platform, true)
	f.Fuzz(func(t *testing.T, accept string, shapes, streaming bool) {
		got, err := names.Negotiate([]byte(accept), shapes, streaming)
		if err != nil {
			if code := meta.AsStatus(err).Code; code != 406 {
				t.Fatalf("%d %v", code, err)
			}
			return
		}
		if got.Encoding == None || streaming && got.Encoding == YAML || !shapes && got.Shape != 0 {
			t.Fatalf("%q: %+v", accept, got)
		}
	})
}
