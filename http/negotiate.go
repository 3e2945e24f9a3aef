package http

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A media is an encoding of objects.
type media uint8

// The encodings, in the order in which the server prefers them.
const (
	mediaJSON media = iota
	mediaYAML
	mediaProtobuf
	mediaNone
)

// A shape is what of an object a client wants to have.
type shape uint8

const (
	shapeWhole shape = iota
	shapeTable
	shapePartial
	shapePartialList
)

// A format is the representation that was negotiated for an answer.
type format struct {
	media   media
	shape   shape
	version string // of the meta group, for every shape but the whole: "v1" or "v1beta1"
	pretty  bool
}

// apiNames are the identifiers that the front uses, in the form of the naming profile.
type apiNames struct {
	metaGroup        string
	discoveryGroup   string
	protobuf         string // media type
	protobufWatch    string
	initialEventsEnd string // annotation
	bearerProtocol   string // prefix of the sub-protocol of a WebSocket that holds a token
	// accepted are the media types of bodies, patches those of patches.
	accepted, patches []string
	representations   string // text that lists them
}

func newAPINames(n *meta.Naming) apiNames {
	x := apiNames{
		metaGroup:        n.Translate("meta.platform.io"),
		discoveryGroup:   n.Translate("apidiscovery.platform.io"),
		protobuf:         n.Translate("application/vnd.platform.protobuf"),
		initialEventsEnd: n.Translate("platform.io/initial-events-end"),
		bearerProtocol:   n.Group("base64url.bearer.authorization") + ".",
	}
	x.protobufWatch = x.protobuf + ";stream=watch"
	x.accepted = []string{typeJSON, typeYAML, x.protobuf}
	x.patches = []string{typeJSONPatch, typeMergePatch, typeStrategicPatch, typeApplyPatch}
	x.representations = strings.Join(x.accepted, ", ")
	return x
}

// The media types of JSON, YAML and patches.
const (
	typeJSON           = "application/json"
	typeYAML           = "application/yaml"
	typeJSONPatch      = "application/json-patch+json"
	typeMergePatch     = "application/merge-patch+json"
	typeStrategicPatch = "application/strategic-merge-patch+json"
	typeApplyPatch     = "application/apply-patch+yaml"
	typeText           = "text/plain; charset=utf-8"
)

// negotiate picks the best of what an Accept header lists. streaming tells that the
// answer is a watch.
func (x *apiNames) negotiate(header []byte, shapes, streaming bool) (format, error) {
	switch string(header) {
	case "", typeJSON, "*/*", typeJSON + ", */*": // what most clients send
		return format{}, nil
	}
	accept := string(header)
	best, bestQ, found := format{}, 0.0, false
	for accept != "" {
		var item string
		item, accept, _ = strings.Cut(accept, ",")
		f, q, ok := x.parseAcceptItem(item, shapes)
		if streaming && f.media == mediaYAML {
			continue // no watch is written in it
		}
		if ok && q > bestQ {
			best, bestQ, found = f, q, true
		}
	}
	if !found {
		return format{}, x.notAcceptableError()
	}
	return best, nil
}

func (x *apiNames) notAcceptableError() error {
	f := notAcceptable("406: Not Acceptable\n\nAvailable representations: " + x.representations)
	f.Details = &meta.Details{}
	return f
}

// A clause is one item of an Accept header, taken apart.
type acceptParams struct {
	shape, group, version string
	q                     float64
}

func (x *apiNames) parseAcceptItem(item string, shapes bool) (format, float64, bool) {
	mediaType, params, _ := strings.Cut(item, ";")
	f := format{media: x.mediaOfAccept(strings.TrimSpace(mediaType))}
	if f.media == mediaNone {
		return f, 0, false
	}
	c, ok := parseAcceptParams(params)
	if !ok || c.q <= 0 {
		return f, 0, false
	}
	if c.shape == "" {
		return f, c.q, true
	}
	if !shapes || c.group != x.metaGroup || c.version != "v1" && c.version != "v1beta1" {
		return f, 0, false
	}
	f.version = c.version
	switch c.shape {
	case "Table":
		f.shape = shapeTable
	case "PartialObjectMetadata":
		f.shape = shapePartial
	case "PartialObjectMetadataList":
		f.shape = shapePartialList
	default:
		return f, 0, false
	}
	return f, c.q, f.shape != shapeTable || f.media != mediaProtobuf
}

func parseAcceptParams(params string) (acceptParams, bool) {
	c := acceptParams{q: 1}
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch key {
		case "as":
			c.shape = value
		case "g":
			c.group = value
		case "v":
			c.version = value
		case "q":
			q, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return c, false
			}
			c.q = q
		}
	}
	return c, true
}

// mediaOfAccept is the encoding that a media range of an Accept header stands for.
func (x *apiNames) mediaOfAccept(s string) media {
	switch {
	case s == typeJSON, s == "*/*", s == "application/*":
		return mediaJSON
	case s == typeYAML:
		return mediaYAML
	case s == x.protobuf:
		return mediaProtobuf
	}
	return x.mediaOfContentType(strings.ToLower(s), false)
}

// mediaOfContentType is the encoding that a Content-Type names; empty tells what none stands for.
func (x *apiNames) mediaOfContentType(contentType string, empty bool) media {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch s := strings.ToLower(strings.TrimSpace(mediaType)); {
	case s == typeJSON, s == "" && empty:
		return mediaJSON
	case s == typeYAML:
		return mediaYAML
	case s == x.protobuf:
		return mediaProtobuf
	}
	return mediaNone
}
