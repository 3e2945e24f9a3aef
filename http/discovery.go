package http

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
)

// discoverCore answers /api.
func (s *Server) discoverCore(x *requestContext) error {
	return s.discover(x, true, s.documents().discovery.APIVersions())
}

// discoverGroups answers /apis.
func (s *Server) discoverGroups(x *requestContext) error {
	return s.discover(x, false, s.documents().discovery.Groups())
}

// discover answers the aggregated document to who prefers it, and else the plain one.
func (s *Server) discover(x *requestContext, core bool, plain []byte) error {
	x.setHeader("Vary", "Accept")
	version, ok := s.names.WantsAggregated(string(x.acceptHeader()))
	if !ok {
		return s.writeDocument(x, plain)
	}
	body, etag := s.documents().discovery.Aggregated(core, version)
	contentType := negotiate.TypeJSON + ";g=" + s.names.DiscoveryGroup + ";v=" + version + ";as=APIGroupDiscoveryList"
	x.setHeader("ETag", etag)
	if matchesETag(string(x.ctx.Request.Header.Peek("If-None-Match")), etag) {
		x.ctx.SetStatusCode(304)
		return nil
	}
	s.writeRaw(x, contentType, body)
	return nil
}

func matchesETag(header, etag string) bool {
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}
	return false
}

// discoverGroup answers /apis/{group}.
func (s *Server) discoverGroup(x *requestContext) error {
	return s.writeDocument(x, s.documents().discovery.Group(x.target.Segments[1]))
}

// discoverResources answers /api/{version} and /apis/{group}/{version}.
func (s *Server) discoverResources(x *requestContext) error {
	group, version := "", x.target.Segments[1]
	if x.target.Segments[0] == "apis" {
		group, version = version, x.target.Segments[2]
	}
	return s.writeDocument(x, s.documents().discovery.Resources(group, version))
}

// writeDocument answers a discovery document; nil: there is none at the path.
func (s *Server) writeDocument(x *requestContext, doc []byte) error {
	if doc == nil {
		return apierrors.PathNotFound()
	}
	f, err := s.names.Negotiate(x.acceptHeader(), false, false)
	if err != nil {
		return err
	}
	f.Pretty = x.format.Pretty
	if f.Encoding == negotiate.Protobuf {
		f.Encoding = negotiate.JSON
	}
	x.format = f
	s.writeBody(x, doc)
	return nil
}

// indexDocument is the list of paths at /.
func (s *Server) indexDocument() []byte {
	paths := []string{"/api", "/apis", "/metrics", "/openapi/v2", openapiPath, "/version"}
	for _, name := range healthNames {
		paths = append(paths, "/"+name)
		for _, c := range s.checks(name) {
			paths = append(paths, "/"+name+"/"+c.Name)
		}
	}
	for _, k := range s.opts.Catalog.Kinds() {
		if k.Group == "" {
			paths = append(paths, "/api/"+k.Version)
		} else {
			paths = append(paths, "/apis/"+k.Group, "/apis/"+k.Group+"/"+k.Version)
		}
	}
	slices.Sort(paths)
	b, err := json.Marshal(struct {
		Paths []string `json:"paths"`
	}{slices.Compact(paths)})
	if err != nil {
		panic(err)
	}
	return b
}
