package convert

import (
	"bytes"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Where a webhook converts (schema.Kind.ConversionWebhook), the bytes of an object mean something in the version only in
// which they were written: what another version shows of them is up to the webhook.

// WrittenForm is the working form of the version in which a stored object was written, of a kind that a webhook
// converts; nil if the definition does not have that version any more.
func WrittenForm(k *schema.Kind, o *meta.Object) *schema.Kind {
	return k.Origin.WorkingForm.FindVersion(WrittenVersion(o))
}

// IsWrittenAs tells whether a stored object was written in the version of k, of a kind that a webhook converts.
func IsWrittenAs(k *schema.Kind, o *meta.Object) bool { return WrittenVersion(o) == k.APIVersion() }

// WrittenVersion is the apiVersion of a stored object.
//
// It stands behind the kind, at the beginning of what codec.EncodeJSON writes.
func WrittenVersion(o *meta.Object) string {
	const name = `"apiVersion":"`
	begin := bytes.Index(o.JSON[:min(len(o.JSON), 512)], []byte(name))
	if begin < 0 {
		return ""
	}
	text := o.JSON[begin+len(name):]
	return string(text[:max(0, bytes.IndexByte(text, '"'))])
}
