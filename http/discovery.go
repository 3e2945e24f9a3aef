package http

import (
	"encoding/json"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/discovery"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
)

// currentDocuments returns the discovery documents. They include all kinds that any server defined
// before the request. If the store is unreachable, they include only the locally known kinds.
func (s *Server) currentDocuments(x *requestContext) *discovery.Documents {
	s.catchUp(x)
	return s.documents.Current()
}

func (s *Server) discoverCore(x *requestContext) error {
	return s.discover(x, true, s.currentDocuments(x).APIVersions())
}

func (s *Server) discoverGroups(x *requestContext) error {
	return s.discover(x, false, s.currentDocuments(x).Groups())
}

// discover serves the aggregated discovery document to clients that prefer it, and the plain
// document to others. The ETag is a content hash, so clients with a current copy get a 304.
func (s *Server) discover(x *requestContext, core bool, plain []byte) error {
	x.setHeader("Vary", "Accept")
	if !s.names.WantsAggregated(string(x.acceptHeader())) {
		return s.writeDiscovery(x, plain)
	}
	body, etag := s.currentDocuments(x).Aggregated(core)
	contentType := negotiate.TypeJSON + ";g=" + s.names.DiscoveryGroup + ";v=v2;as=APIGroupDiscoveryList"
	x.setHeader("ETag", etag)
	if discovery.MatchesETag(string(x.ctx.Request.Header.Peek("If-None-Match")), etag) {
		x.ctx.SetStatusCode(304)
		return nil
	}
	s.writeBody(x, represent.Body{ContentType: contentType, Bytes: body, End: represent.Newline})
	return nil
}

func (s *Server) discoverGroup(x *requestContext) error {
	group := x.target.Segments[1]
	if x.target.Segments[2] != "" {
		return s.discoverResources(x)
	}
	doc := s.currentDocuments(x).Group(group)
	if doc == nil {
		return s.groupNotFound(group)
	}
	return s.writeDiscovery(x, doc)
}

func (s *Server) discoverResources(x *requestContext) error {
	group, version := "", x.target.Segments[1]
	if x.target.Segments[0] == "apis" {
		group, version = version, x.target.Segments[2]
	}
	doc := s.currentDocuments(x).Resources(group, version)
	if doc == nil {
		return s.groupNotFound(group)
	}
	return s.writeDiscovery(x, doc)
}

// groupNotFound returns the error for a group or version that is not served. It is a Status for
// built-in groups and plain text for others, as in kube-apiserver.
func (s *Server) groupNotFound(group string) error {
	if s.opts.Catalog.IsBuiltInGroup(group) {
		return apierrors.PathNotFound()
	}
	return apierrors.PageNotFound()
}

func (s *Server) writeDiscovery(x *requestContext, doc []byte) error {
	f, err := s.names.Negotiate(x.acceptHeader(), negotiate.Documents)
	x.state = stateNegotiated
	if err != nil {
		return err
	}
	f.Pretty = x.format.Pretty
	x.format = f
	if f.Encoding != negotiate.Protobuf {
		s.writeDocument(x, doc)
		return nil
	}
	var head struct{ Kind, APIVersion string }
	if err := json.Unmarshal(doc, &head); err != nil {
		return err
	}
	body, err := s.encoder.Meta(head.Kind, head.APIVersion, doc)
	if err != nil {
		return err
	}
	s.writeBody(x, body)
	return nil
}

func (s *Server) serveVersion(x *requestContext) error {
	if err := s.names.OnlyJSON(x.acceptHeader()); err != nil {
		return err
	}
	s.writeBody(x, represent.Body{ContentType: negotiate.TypeJSON, Bytes: s.version, Document: s.version})
	return nil
}

func (s *Server) fixedPaths() []string {
	paths := []string{"/api", "/apis", "/metrics", slisPath, "/openapi/v2", openapiPath, "/version"}
	for _, name := range healthNames {
		paths = append(paths, "/"+name)
		for _, c := range s.checks(name) {
			paths = append(paths, "/"+name+"/"+c.Name)
		}
	}
	if s.opts.StatusPage {
		paths = append(paths, statusPath)
	}
	if s.opts.Flags != nil {
		paths = append(paths, flagsPath)
	}
	if s.opts.Console != nil {
		paths = append(paths, consolePath)
	}
	return paths
}
