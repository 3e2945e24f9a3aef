package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func (s *Server) get(x *requestContext) error {
	if x.info.Subresource == "" && x.target.Query.Flag("history") {
		return s.history(x)
	}
	r := request.Get{Kind: x.kind, Key: x.info.Key(x.kind), Subresource: x.info.Subresource, User: x.attributes.User.Name}
	if err := params.ParseGet(x.target.Query, &r); err != nil {
		return err
	}
	obj, err := s.getObject(x, r)
	if err != nil {
		return err
	}
	if obj == nil {
		return apierrors.MethodNotAllowed()
	}
	return s.writeObject(x, obj)
}

func (s *Server) writeObject(x *requestContext, obj *meta.Object) error {
	if len(obj.JSON) > response.MaxBuffered {
		if err := s.reserveObjectResponse(x, len(obj.JSON)); err != nil {
			return err
		}
	}
	body, err := s.encoder.Object(x.bodyKind, x.format, x.target.Query, obj)
	if err != nil {
		return err
	}
	s.writeBody(x, body)
	return nil
}

func (s *Server) parseList(x *requestContext) (params.List, error) {
	watch := x.info.Verb == "watch"
	rules := params.ListRules{MetaGroup: s.names.MetaGroup, DisableChunking: s.opts.DisableListChunking, DisableWatchList: s.opts.DisableWatchList}
	o, err := params.ParseList(rules, x.kind, x.target.Query, watch)
	if err == nil || !x.kind.IsCustom() || !s.catchUp(x) {
		return o, err
	}
	// Resolve the kind again, because a CRD update on another server may have made the field
	// selectable.
	k, _, err := x.info.Resolve(s.opts.Catalog.Kind)
	if err != nil {
		return params.List{}, s.kindNotFound(x, err)
	}
	x.kind, x.bodyKind = k, convert.BodyKind(k, x.subresource)
	return params.ParseList(rules, k, x.target.Query, watch)
}

func (s *Server) list(x *requestContext) error {
	o, err := s.parseList(x)
	if err != nil {
		return err
	}
	l, err := o.Request(x.kind, &x.info)
	if err != nil {
		return err
	}
	l.User = x.attributes.User.Name
	listing, err := s.listObjects(x, l)
	if err != nil {
		return err
	}
	return s.writeListing(x, listing)
}

func (s *Server) writeListing(x *requestContext, listing request.ListResult) error {
	l, err := s.encoder.List(x.kind, x.format, x.target.Query, listing, converted(x, listing))
	if err != nil {
		return err
	}
	all, largest := l.Measure()
	room := l.Memory(all, largest)
	if room > 0 && all >= response.MinGzipSize && s.acceptsGzip(x) {
		room += response.GzipOverhead
	}
	if err := s.reserveResponse(x, room); err != nil {
		return err
	}
	x.auditResponseList(l, all)
	body, err := l.Body(all)
	if err != nil {
		return err
	}
	s.writeBody(x, body)
	return nil
}
