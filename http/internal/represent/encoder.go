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
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/table"
)

// An Encoder encodes responses for all requests and kinds. Its fields must not change during use.
type Encoder struct {
	Naming  *meta.Naming
	Names   *negotiate.Names
	Catalog *catalog.Catalog
	Forms   Forms
}

// shape returns the JSON of an object in the negotiated shape. The result may be the object's own
// bytes and must not be modified.
func (e *Encoder) shape(k *schema.Kind, f negotiate.Format, q requestinfo.Query, obj *meta.Object) ([]byte, error) {
	switch f.Shape {
	case negotiate.Table:
		o, err := tableOptions(f, q, table.ListMeta{ResourceVersion: formatVersion(obj.Version)})
		if err != nil {
			return nil, err
		}
		return table.Table(e.Naming, k, []*meta.Object{obj}, o), nil
	case negotiate.Partial:
		return e.appendPartial(nil, f, obj), nil
	case negotiate.PartialList:
		return nil, errNotList(k)
	}
	return obj.JSON, nil
}

// CheckShape returns an error if an object cannot be returned in a format. Call it before a write,
// so that a successful write never results in an error response.
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

// Object returns the body for an object. q may contain parameters for the shape. A Table is always
// JSON, because clients cannot decode Protobuf tables.
func (e *Encoder) Object(k *schema.Kind, f negotiate.Format, q requestinfo.Query, o *meta.Object) (Body, error) {
	if f == (negotiate.Format{}) { // most clients
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

func (e *Encoder) appendPartial(b []byte, f negotiate.Format, obj *meta.Object) []byte {
	return table.AppendPartial(b, e.Naming, f.Version, obj)
}

func tableOptions(f negotiate.Format, q requestinfo.Query, head table.ListMeta) (table.TableOptions, error) {
	include, err := params.IncludeObject(q)
	return table.TableOptions{ListMeta: head, IncludeObject: include, Version: f.Version, Now: time.Now()}, err
}

func errNotList(k *schema.Kind) error {
	return apierrors.NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + k.Kind + ")")
}

// formatVersion formats a resourceVersion. It returns "" for 0, the version of a dry run.
func formatVersion(v uint64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatUint(v, 10)
}
