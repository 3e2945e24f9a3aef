package negotiate

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func FuzzAccept(f *testing.F) {
	for _, accept := range []string{
		"", "*/*", "application/json;q=0.5,application/yaml", "application/json;as=Table;g=meta.platform.io;v=v1, application/json", "application/vnd.platform.protobuf;as=PartialObjectMetadata;g=meta.platform.io;v=v1",
		"application/json;q=nan", "application/cbor, application/json;q=0.9", ",;,=", "application/json;as=;v=", "text/html",
	} {
		f.Add(accept, uint8(Objects))
		f.Add(accept, uint8(Events))
		f.Add(accept, uint8(Documents))
	}
	names := NewNames(meta.Platform)
	names.AddCBOR()
	f.Fuzz(func(t *testing.T, accept string, number uint8) {
		answer := Answer(number % 3)
		got, err := names.Negotiate([]byte(accept), answer)
		if err != nil {
			if code := meta.AsStatus(err).Code; code != 406 {
				t.Fatalf("%d %v", code, err)
			}
			return
		}
		if got.Encoding == None || answer == Events && got.Encoding == YAML || answer == Documents && got.Shape != 0 {
			t.Fatalf("%q: %+v", accept, got)
		}
	})
}
