package http

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/discovery"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/codec"
)

// A zPage is a diagnostic page, such as /statusz or /flagz. By default it is text for humans, whose
// format may change. Programs can request it as an object.
type zPage struct {
	kind, component string
	// fields returns the fields of the object, except kind, version and name. text formats these
	// fields as text.
	fields func() map[string]any
	text   func(fields map[string]any) string
}

// serveZPage serves a page as an object if the client requests its kind, for example with
// "application/json;v=v1beta1;g=config.k8s.io;as=Statusz". Otherwise, it serves text if the client
// accepts text.
func (s *Server) serveZPage(p zPage) func(*requestContext) error {
	group, path := s.opts.Naming.Group("config"), strings.ToLower(p.kind)
	return func(x *requestContext) error {
		x.setHeader("Vary", "Accept")
		x.setHeader("X-Content-Type-Options", "nosniff")
		mediaType, version := negotiate.ZPage(string(x.acceptHeader()), group, p.kind)
		if mediaType == "" {
			return apierrors.NotAcceptable(fmt.Sprintf("only the following media types are accepted: text/plain, %s;v=%s;g=%s;as=%s",
				negotiate.TypeJSON, negotiate.ZPageVersions[0], group, p.kind))
		}
		fields := p.fields()
		if version == "" {
			s.writeRaw(x, mediaType, []byte(fmt.Sprintf("\n%s %s\n%s\n%s", p.component, path, zPageWarning, p.text(fields))))
			return nil
		}
		if version != negotiate.ZPageVersions[0] {
			x.addWarnings([]string{"This version of the " + path + " endpoint is deprecated. Please use a newer version."})
		}
		fields["kind"], fields["apiVersion"], fields["metadata"] = p.kind, group+"/"+version, map[string]string{"name": p.component}
		body, err := json.Marshal(fields)
		if err == nil && mediaType == negotiate.TypeYAML {
			body, err = codec.YAML(body)
		}
		if err != nil {
			return err
		}
		s.writeRaw(x, mediaType, body)
		return nil
	}
}

const zPageWarning = "Warning: This page is for debugging, and its format may change. Programs should request its kind."

func (s *Server) statusPage() zPage {
	var version struct{ GitVersion, GoVersion, Major, Minor string }
	if err := json.Unmarshal(s.version, &version); err != nil {
		panic(err) // encoded by New
	}
	return zPage{
		kind: "Statusz", component: "apiserver",
		fields: func() map[string]any {
			return map[string]any{
				"startTime": s.started.UTC().Format(time.RFC3339), "uptimeSeconds": int64(time.Since(s.started).Seconds()),
				"goVersion": version.GoVersion, "binaryVersion": strings.TrimPrefix(version.GitVersion, "v"),
				"emulationVersion": version.Major + "." + version.Minor, "paths": debugPaths(s.documents.Current()),
			}
		},
		text: func(f map[string]any) string {
			up := f["uptimeSeconds"].(int64)
			return fmt.Sprintf("Started: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\nEmulation version: %s\nPaths: %s\n",
				s.started.UTC().Format(time.UnixDate), up/3600, up/60%60, up%60, f["goVersion"], f["binaryVersion"], f["emulationVersion"],
				strings.Join(f["paths"].([]string), " "))
		},
	}
}

func debugPaths(d *discovery.Documents) []string {
	var index struct{ Paths []string }
	if err := json.Unmarshal(d.Index(), &index); err != nil {
		panic(err) // it was made here
	}
	found := map[string]bool{}
	for _, path := range index.Paths {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		switch first {
		case "", "api", "apis", "openapi", "openid", ".well-known":
		default:
			found["/"+first] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (s *Server) flagsPage() zPage {
	return zPage{
		kind: "Flagz", component: s.opts.Naming.Translate("platform-apiserver"),
		fields: func() map[string]any { return map[string]any{"flags": s.opts.Flags()} },
		text: func(f map[string]any) string {
			flags := f["flags"].(map[string]string)
			var lines strings.Builder
			for _, name := range slices.Sorted(maps.Keys(flags)) {
				fmt.Fprintf(&lines, "%s=%s\n", name, strings.ReplaceAll(flags[name], "\n", " "))
			}
			return lines.String()
		},
	}
}
