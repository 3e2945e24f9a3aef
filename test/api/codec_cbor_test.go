package api

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

// FuzzCBOR compares the decoding of items without a schema with the Kubernetes serializer. The
// server must accept every item that the serializer accepts, including arbitrary bytes in byte
// strings. Items that the serializer rejects are skipped, because it checks tags more strictly and
// allows only 64 levels and 1024 elements.
func FuzzCBOR(f *testing.F) {
	for _, seed := range []string{
		"\xa1\x61a\x01", "\xbf\x61a\x9f\xf5\xf6\xff\xff", "\xd6\x43\x00\x01\x02", "\xd5\x42\xff\xfe", "\xd7\x9f\x42\xff\xfe\xff", "\xc0\x742013-03-21T20:04:00Z",
		"\xc1\x1a\x51\x4b\x67\xb0", "\xc1\xfb\x41\xd4\x52\xd9\xec\x20\x00\x00", "\xc1\x3a\x51\x4b\x67\xb0", "\xf9\x3c\x00", "\xfb\x7e\x37\xe4\x3c\x88\x00\x75\x9c", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\x1b\x7f\xff\xff\xff\xff\xff\xff\xff", "\xd8\x63\x61b", "\x7f\x61a\x61b\xff", "\xa1\xd6\x41a\x01", "\xa2\x61a\x01\x41a\x02", "\xd9\xd9\xf7\xd9\xd9\xf7\x00", "\xc1\xf6", "\x42\xff\xfe", "\xc0\x00", "\xd6\x00", "\xc1\xc1\x00", "\xd6\xc0\x61a",
	} {
		f.Add([]byte(seed))
	}
	c := newCatalog(f, meta.Kubernetes)
	plan := c.ByGVK(meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ControllerRevision"}).Message()
	f.Fuzz(func(t *testing.T, item []byte) {
		body := append([]byte("\xa1\x44data"), item...)
		var want map[string]any
		wantErr := direct.Unmarshal(body, &want)
		got, _, err := codec.DecodeCBOR(plan, body, 1<<20)
		if err != nil {
			if wantErr == nil {
				t.Fatalf("%x: %v, and %v by the public serializer", item, err, want)
			}
			return
		}
		if wantErr != nil {
			return // the serializer checks tags more strictly
		}
		text := client.Encode(t, want)
		fromJSON, _, err := codec.DecodeJSON(plan, text)
		if err != nil {
			t.Fatal(err)
		}
		if fromGot := codec.AppendValue(nil, plan, got); string(fromGot) != string(codec.AppendValue(nil, plan, fromJSON)) && !tree.StrictEqual(got, fromJSON) {
			t.Fatalf("%x: %s, and %s by the public serializer", item, fromGot, text)
		}
	})
}
