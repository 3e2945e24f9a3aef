package http

import (
	"bytes"
	"compress/gzip"
	"io"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/discovery"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/openapi"
)

const openapiPath = "/openapi/v3"

func (s *Server) serveOpenAPIV2(x *requestContext) error {
	return s.serveOpenAPI(x, s.currentDocuments(x).OpenAPIV2(), "v2")
}

func (s *Server) serveOpenAPIV3Index(x *requestContext) error {
	index := s.currentDocuments(x).OpenAPIIndex()
	if x.notModified(index.Hash) {
		return nil
	}
	s.writeRaw(x, negotiate.TypeJSON, index.Body)
	return nil
}

// serveOpenAPIV3 serves /openapi/v3/{path}. Clients may cache a document whose URL contains its
// hash. An outdated hash results in a redirect.
func (s *Server) serveOpenAPIV3(x *requestContext) error {
	path := strings.TrimPrefix(x.info.Path, openapiPath+"/")
	documents := s.currentDocuments(x)
	document := documents.ConvertedOpenAPIV3(path)
	if document == nil {
		if to := s.openapiServer(path); to != nil {
			return s.forward(x, to)
		}
		document = documents.OpenAPIV3(path)
	}
	if document == nil {
		return apierrors.PathNotFound()
	}
	if asked := x.target.Query.Get("hash"); asked != "" {
		if asked != document.Hash() {
			x.setHeader("Location", openapi.URL(path, document.Hash()))
			x.ctx.SetStatusCode(nethttp.StatusMovedPermanently)
			return nil
		}
		x.setHeader("Cache-Control", "public, immutable")
		x.setHeader("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(nethttp.TimeFormat))
	}
	return s.serveOpenAPI(x, document, "v3")
}

func (s *Server) serveOpenAPI(x *requestContext, document *openapi.Document, version string) error {
	x.setHeader("Vary", "Accept, Accept-Encoding")
	f, ok := discovery.OpenAPIFormat(string(x.acceptHeader()), version)
	if !ok {
		x.setHeader("Cache-Control", "no-cache, private")
		return apierrors.NotAcceptable("406: Not Acceptable\n\nAvailable representations: " + negotiate.TypeJSON + ", " + discovery.OpenAPIProtobuf(version))
	}
	if x.notModified(document.Hash()) {
		return nil
	}
	contentType := negotiate.TypeJSON
	if f == openapi.Protobuf {
		contentType = discovery.OpenAPIProtobuf(version)
	}
	packed := document.Gzip(f)
	if err := s.reserveResponse(x, response.Overhead); err != nil {
		return err
	}
	a := &response.Stream{Size: -1, Write: func(w io.Writer) error {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return err
	}}
	if s.acceptsGzip(x) {
		x.setHeader("Content-Encoding", "gzip")
		a.Size, a.Write = len(packed), func(w io.Writer) error {
			_, err := w.Write(packed)
			return err
		}
	}
	s.writeStream(x, contentType, a, 0)
	return nil
}

func (x *requestContext) notModified(hash string) bool {
	etag := `"` + hash + `"`
	x.setHeader("ETag", etag)
	if !discovery.MatchesETag(string(x.ctx.Request.Header.Peek("If-None-Match")), etag) {
		return false
	}
	x.ctx.SetStatusCode(nethttp.StatusNotModified)
	return true
}
