package http

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// get answers one object.
func (s *Server) get(x *requestContext) error {
	version, err := parseVersion(x.query.Get("resourceVersion"))
	if err != nil {
		return err
	}
	obj, err := s.opts.Store.Get(x.deadlineCtx, request.Get{
		Kind: x.kind, Key: x.info.Key(x.kind), Subresource: x.info.Subresource, Version: version,
	})
	if err != nil {
		return err
	}
	if obj == nil {
		return apierrors.MethodNotAllowed()
	}
	return s.writeObject(x, obj)
}

// writeObject answers one object in the format that was negotiated.
func (s *Server) writeObject(x *requestContext, obj *meta.Object) error {
	if err := s.reserveObjectResponse(x, len(obj.JSON)); err != nil {
		return err
	}
	switch x.format.Shape {
	case negotiate.Table:
		return s.writeTable(x, obj)
	case negotiate.Partial:
		return s.writePartial(x, s.appendPartial(nil, x.format, obj))
	case negotiate.PartialList:
		return errNotList(x.bodyKind)
	}
	if x.format.Encoding == negotiate.Protobuf {
		x.auditResponseDocument(obj.JSON)
		body, err := s.protobufObject(x.bodyKind, obj)
		if err != nil {
			return err
		}
		s.writeRaw(x, s.names.ProtobufType, body)
		return nil
	}
	s.writeBody(x, obj.JSON)
	return nil
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

func (s *Server) appendPartial(b []byte, f negotiate.Format, obj *meta.Object) []byte {
	return present.AppendPartial(b, s.opts.Naming, f.Version, obj)
}

// writePartial answers the metadata of an object, which has the same message for all kinds.
func (s *Server) writePartial(x *requestContext, doc []byte) error {
	if x.format.Encoding == negotiate.Protobuf {
		x.auditResponseDocument(doc)
		body, err := s.protobufPartial(x.format, doc)
		if err != nil {
			return err
		}
		s.writeRaw(x, s.names.ProtobufType, body)
		return nil
	}
	s.writeBody(x, doc)
	return nil
}

// list answers a collection.
func (s *Server) list(x *requestContext) error {
	o, err := s.parseListOptions(x.kind, x.query, false)
	if err != nil {
		return err
	}
	l, err := o.listRequest(x.kind, &x.info)
	if err != nil {
		return err
	}
	listing, err := s.opts.Store.List(x.deadlineCtx, l)
	if err != nil {
		return err
	}
	return s.writeListing(x, listing)
}

func (s *Server) writeTable(x *requestContext, obj *meta.Object) error {
	o, err := tableOptions(x, present.ListMeta{ResourceVersion: formatVersion(obj.Version)})
	if err != nil {
		return err
	}
	s.writeBody(x, present.Table(s.opts.Naming, x.bodyKind, []*meta.Object{obj}, o))
	return nil
}

// tableOptions are those of a Table with the given metadata.
func tableOptions(x *requestContext, head present.ListMeta) (present.TableOptions, error) {
	include, err := includeObject(x)
	return present.TableOptions{ListMeta: head, IncludeObject: include, Version: x.format.Version, Now: time.Now()}, err
}

// includeObject reads what the rows of a table shall hold of their objects.
func includeObject(x *requestContext) (present.IncludeObjectPolicy, error) {
	asked := x.query.Get("includeObject")
	include, ok := present.ParseInclude(asked)
	if !ok {
		return include, apierrors.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: " +
			strconv.Quote(asked) + ": must be 'Metadata', 'Object', 'None', or empty")
	}
	return include, nil
}
