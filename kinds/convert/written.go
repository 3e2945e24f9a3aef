package convert

import (
	"bytes"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// For a kind with a conversion webhook (schema.Kind.ConversionWebhook), the bytes of an object are
// valid only in the version in which they were written. Only the webhook can convert them.

// WrittenForm returns the kind for the version in which an object was written, with that version as
// its storage version, or nil if the CRD lacks the version. k must have a conversion webhook.
func WrittenForm(k *schema.Kind, o *meta.Object) *schema.Kind {
	return k.Origin.WorkingForm.FindVersion(WrittenVersion(o))
}

// IsWrittenAs reports whether an object of a kind with a conversion webhook was written in the
// version of k.
func IsWrittenAs(k *schema.Kind, o *meta.Object) bool { return WrittenVersion(o) == k.APIVersion() }

// WrittenVersion returns the apiVersion in a stored object, which codec.EncodeJSON writes near the
// beginning.
func WrittenVersion(o *meta.Object) string {
	const name = `"apiVersion":"`
	begin := bytes.Index(o.JSON[:min(len(o.JSON), 512)], []byte(name))
	if begin < 0 {
		return ""
	}
	text := o.JSON[begin+len(name):]
	return string(text[:max(0, bytes.IndexByte(text, '"'))])
}
