package represent

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Encoder makes representations. Its fields are not changed once it is in use. One serves all requests, of every
// kind.
type Encoder struct {
	Naming  *meta.Naming
	Names   *negotiate.Names
	Catalog *catalog.Catalog
	Forms   Forms
}

// shape is the JSON document of one object in the shape that was negotiated. It may be the object's own: it is
// only to be read.
func (e *Encoder) shape(k *schema.Kind, f negotiate.Format, q requestinfo.Query, obj *meta.Object) ([]byte, error) {
	switch f.Shape {
	case negotiate.Table:
		o, err := tableOptions(f, q, present.ListMeta{ResourceVersion: formatVersion(obj.Version)})
		if err != nil {
			return nil, err
		}
		return present.Table(e.Naming, k, []*meta.Object{obj}, o), nil
	case negotiate.Partial:
		return e.appendPartial(nil, f, obj), nil
	case negotiate.PartialList:
		return nil, errNotList(k)
	}
	return obj.JSON, nil
}

// CheckShape tells, before a change is made, whether one object can be answered in a format. Otherwise a
// write would be done and then answered with an error, and the client would do it again.
func CheckShape(k *schema.Kind, f negotiate.Format, q requestinfo.Query) error {
	switch f.Shape {
	case negotiate.PartialList:
		return errNotList(k)
	case negotiate.Table:
		_, err := params.IncludeObject(q)
		return err
	}
	return nil
}

// Object is the body of an answer of one object; q may hold parameters of its shape. A Table has no Protobuf
// message that clients decode, so it stays JSON.
func (e *Encoder) Object(k *schema.Kind, f negotiate.Format, q requestinfo.Query, o *meta.Object) (Body, error) {
	if f == (negotiate.Format{}) { // what most clients take
		return Body{ContentType: negotiate.TypeJSON, Bytes: o.JSON, End: Newline, Document: o.JSON}, nil
	}
	doc, err := e.shape(k, f, q, o)
	if err != nil {
		return Body{}, err
	}
	body := Body{Document: doc}
	switch {
	case f.Encoding == negotiate.CBOR && f.Shape != negotiate.Table:
		body.ContentType = negotiate.TypeCBOR
		body.Bytes, err = e.cborForm(k, f, o)
	case f.Encoding == negotiate.Protobuf && f.Shape != negotiate.Table:
		body.ContentType = e.Names.ProtobufType
		body.Bytes, err = e.protobufObject(k, f, o)
	default:
		return Document(f, doc), nil
	}
	return body, err
}

// appendPartial appends the metadata of an object, which has the same message for all kinds. It is copied
// out of the object's bytes without parsing them.
func (e *Encoder) appendPartial(b []byte, f negotiate.Format, obj *meta.Object) []byte {
	return present.AppendPartial(b, e.Naming, f.Version, obj)
}

// tableOptions are those of a Table with the given metadata.
func tableOptions(f negotiate.Format, q requestinfo.Query, head present.ListMeta) (present.TableOptions, error) {
	include, err := params.IncludeObject(q)
	return present.TableOptions{ListMeta: head, IncludeObject: include, Version: f.Version, Now: time.Now()}, err
}

// errNotList is the answer to a request for one object in the shape of a list.
func errNotList(k *schema.Kind) error {
	return apierrors.NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + k.Kind + ")")
}

// formatVersion is the text of a resource version; "" for that of a dry run.
func formatVersion(v uint64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatUint(v, 10)
}
