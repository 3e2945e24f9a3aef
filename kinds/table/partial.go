package table

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
)

// ListMeta is the metadata of a list or Table.
type ListMeta struct {
	ResourceVersion    string
	Continue           string // token for the next chunk; "" at the end
	Remaining          int64  // number of remaining objects; 0 if none or unknown
	WriteEmptyContinue bool   // write an empty token too, as in lists of custom kinds
}

// Append appends the metadata as JSON, such as
// {"resourceVersion":"12","continue":"…","remainingItemCount":3}.
func (m ListMeta) Append(b []byte) []byte {
	b = append(b, '{')
	if m.ResourceVersion != "" {
		b = append(b, `"resourceVersion":`...)
		b = jsontext.AppendString(b, m.ResourceVersion)
	}
	if m.Continue != "" || m.WriteEmptyContinue {
		b = comma(b)
		b = append(b, `"continue":`...)
		b = jsontext.AppendString(b, m.Continue)
	}
	if m.Remaining > 0 {
		b = comma(b)
		b = append(b, `"remainingItemCount":`...)
		b = strconv.AppendInt(b, m.Remaining, 10)
	}
	return append(b, '}')
}

func comma(b []byte) []byte {
	if last := b[len(b)-1]; last == '{' || last == '[' {
		return b
	}
	return append(b, ',')
}

func apiVersion(n *meta.Naming, version string) string {
	if version == "" {
		version = "v1"
	}
	return n.Group("meta") + "/" + version
}

// Metadata returns the metadata in o's JSON. It is at ItemOffset in stored objects. Otherwise,
// Metadata searches the JSON.
func Metadata(o *meta.Object) jsontext.Value {
	const name = `"metadata":`
	if rest := jsontext.Value(o.JSON[min(o.ItemOffset, len(o.JSON)):]); bytes.HasPrefix(rest, []byte(name)) {
		rest = rest[len(name):]
		return rest[:rest.Length()]
	}
	return jsontext.Value(o.JSON).Field("metadata")
}

// AppendPartial appends o as PartialObjectMetadata. version is "v1", "v1beta1" or "", which means
// v1.
func AppendPartial(b []byte, n *meta.Naming, version string, o *meta.Object) []byte {
	return appendPartial(b, apiVersion(n, version), Metadata(o))
}

func appendPartial(b []byte, apiVersion string, metadata jsontext.Value) []byte {
	b = append(b, `{"kind":"PartialObjectMetadata","apiVersion":"`...)
	b = append(b, apiVersion...)
	b = append(b, `","metadata":`...)
	if metadata != nil {
		b = append(b, metadata...)
	} else {
		b = append(b, "{}"...)
	}
	return append(b, '}')
}

// AppendPartialListHead appends a PartialObjectMetadataList up to the bracket that opens its items.
func AppendPartialListHead(b []byte, n *meta.Naming, version string, list ListMeta) []byte {
	b = append(b, `{"kind":"PartialObjectMetadataList","apiVersion":"`...)
	b = append(b, apiVersion(n, version)...)
	b = append(b, `","metadata":`...)
	b = list.Append(b)
	return append(b, `,"items":[`...)
}
