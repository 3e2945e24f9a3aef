package http

import (
	"bytes"
	"compress/gzip"
	"io"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/openapi"
)

// openapiPath leads to the documents of version 3.
const openapiPath = "/openapi/v3"

// newOpenAPI prepares the documents of what is served.
func (s *Server) newOpenAPI() *openapi.Documents {
	return openapi.New(openapi.Options{
		Naming: s.opts.Naming, Kinds: s.opts.Catalog.Kinds(), Message: s.opts.Catalog.Message,
		Version: "v" + apiMajor + "." + apiMinor + ".0", Patches: s.names.PatchTypes,
	})
}

// serveOpenAPIV2 answers /openapi/v2.
func (s *Server) serveOpenAPIV2(x *requestContext) error {
	return s.serveOpenAPI(x, s.documents().openapi.V2(), "v2")
}

// serveOpenAPIV3Index answers /openapi/v3: where the document of each version is.
func (s *Server) serveOpenAPIV3Index(x *requestContext) error {
	index := s.documents().openapi.Index()
	if x.notModified(index.Hash) {
		return nil
	}
	s.writeRaw(x, negotiate.TypeJSON, index.Body)
	return nil
}

// serveOpenAPIV3 answers /openapi/v3/{path}. Under its hash a document never changes;
// under another hash it has moved.
func (s *Server) serveOpenAPIV3(x *requestContext) error {
	path := strings.TrimPrefix(x.info.Path, openapiPath+"/")
	document := s.documents().openapi.V3(path)
	if document == nil {
		return apierrors.PathNotFound()
	}
	if asked := x.query.Get("hash"); asked != "" {
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

// serveOpenAPI answers a document in the format that the client prefers.
func (s *Server) serveOpenAPI(x *requestContext, document *openapi.Document, version string) error {
	x.setHeader("Vary", "Accept, Accept-Encoding")
	f, ok := openapiFormat(string(x.acceptHeader()), version)
	if !ok {
		x.setHeader("Cache-Control", "no-cache, private")
		return apierrors.NotAcceptable("406: Not Acceptable\n\nAvailable representations: " + negotiate.TypeJSON + ", " + openapiProtobuf(version))
	}
	if x.notModified(document.Hash()) {
		return nil
	}
	contentType := negotiate.TypeJSON
	if f == openapi.Protobuf {
		contentType = openapiProtobuf(version)
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
	if x.acceptsGzip() {
		x.setHeader("Content-Encoding", "gzip")
		a.Size, a.Write = len(packed), func(w io.Writer) error {
			_, err := w.Write(packed)
			return err
		}
	}
	s.writeStream(x, contentType, a, 0)
	return nil
}

// notModified sets the ETag and, for a client that has what it stands for, answers 304.
func (x *requestContext) notModified(hash string) bool {
	etag := `"` + hash + `"`
	x.setHeader("ETag", etag)
	if !matchesETag(string(x.ctx.Request.Header.Peek("If-None-Match")), etag) {
		return false
	}
	x.ctx.SetStatusCode(nethttp.StatusNotModified)
	return true
}

// openapiProtobuf is the media type of the Protobuf form.
func openapiProtobuf(version string) string {
	return "application/com.github.proto-openapi.spec." + version + ".v1.0+protobuf"
}

// openapiFormat picks the format that an Accept header ranks highest. Clients ask for
// Protobuf under an older name as well, which is no valid media type.
func openapiFormat(accept, version string) (best openapi.Format, ok bool) {
	if accept == "" {
		return openapi.JSON, true
	}
	highest := 0.0
	for accept != "" {
		var item string
		item, accept, _ = strings.Cut(accept, ",")
		mediaType, params, _ := strings.Cut(item, ";")
		f := openapi.JSON
		switch strings.ToLower(strings.TrimSpace(mediaType)) {
		case negotiate.TypeJSON, "application/*", "*/*":
		case openapiProtobuf(version), "application/com.github.proto-openapi.spec." + version + "@v1.0+protobuf":
			f = openapi.Protobuf
		default:
			continue
		}
		if q, valid := negotiate.Quality(params); valid && q > highest {
			best, ok, highest = f, true, q
		}
	}
	return best, ok
}
