package negotiate

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
)

// An Encoding is a serialization of objects.
type Encoding uint8

// The encodings, in the server's order of preference.
const (
	JSON Encoding = iota
	YAML
	Protobuf
	CBOR
	None
)

// An Answer is the type of a response body. It determines which formats a client may choose from.
type Answer uint8

const (
	Objects   Answer = iota // objects in any shape
	Events                  // a watch, in any shape
	Documents               // anything else, in its only shape
)

// A Shape is the form in which a response returns objects: in full, as a Table, or as metadata
// only.
type Shape uint8

// The supported shapes, both for single objects and for lists.
const (
	Whole Shape = iota
	Table
	Partial
	PartialList
)

// A Format is the representation that was negotiated for a response.
type Format struct {
	Encoding Encoding
	Shape    Shape
	Version  string // of the meta group, except for Whole: "v1" or "v1beta1"
	Pretty   bool
}

// Names holds the media types and API groups of the naming profile.
type Names struct {
	MetaGroup         string
	DiscoveryGroup    string
	ProtobufType      string // media type
	ProtobufWatchType string
	InitialEventsEnd  string // annotation
	BearerProtocol    string // prefix of the WebSocket subprotocol with a token
	// BodyTypes and PatchTypes are the accepted media types. Custom kinds support neither
	// Protobuf nor strategic merge patch.
	BodyTypes, PatchTypes             []string
	CustomBodyTypes, CustomPatchTypes []string
	watchTypes                        []string // for watches
	cbor                              bool     // CBOR is served
}

// NewNames returns the names of a profile, without CBOR.
func NewNames(profile *meta.Naming) Names {
	n := Names{
		MetaGroup:        profile.Translate("meta.platform.io"),
		DiscoveryGroup:   profile.Translate("apidiscovery.platform.io"),
		ProtobufType:     profile.Translate("application/vnd.platform.protobuf"),
		InitialEventsEnd: profile.Translate("platform.io/initial-events-end"),
		BearerProtocol:   profile.Group("base64url.bearer.authorization") + ".",
	}
	n.ProtobufWatchType = n.ProtobufType + ";stream=watch"
	n.BodyTypes = []string{TypeJSON, TypeYAML, n.ProtobufType}
	n.CustomBodyTypes = []string{TypeJSON, TypeYAML}
	n.PatchTypes = []string{TypeJSONPatch, TypeMergePatch, TypeStrategicPatch, TypeApplyPatch}
	n.CustomPatchTypes = []string{TypeJSONPatch, TypeMergePatch, TypeApplyPatch}
	n.watchTypes = []string{TypeJSON + ";stream=watch", n.ProtobufWatchType}
	return n
}

// AddCBOR enables CBOR.
func (n *Names) AddCBOR() {
	n.cbor = true
	n.BodyTypes, n.CustomBodyTypes = append(n.BodyTypes, TypeCBOR), append(n.CustomBodyTypes, TypeCBOR)
	n.PatchTypes, n.CustomPatchTypes = append(n.PatchTypes, TypeApplyPatchCBOR), append(n.CustomPatchTypes, TypeApplyPatchCBOR)
	n.watchTypes = append(n.watchTypes, TypeCBORSequence)
}

// The media types that all naming profiles share.
const (
	TypeJSON           = "application/json"
	TypeYAML           = "application/yaml"
	TypeJSONPatch      = "application/json-patch+json"
	TypeMergePatch     = "application/merge-patch+json"
	TypeStrategicPatch = "application/strategic-merge-patch+json"
	TypeApplyPatch     = "application/apply-patch+yaml"
	TypeText           = "text/plain; charset=utf-8"

	TypeCBOR           = "application/cbor"
	TypeCBORSequence   = "application/cbor-seq" // a sequence of items, for watches
	TypeApplyPatchCBOR = "application/apply-patch+cbor"
)

// Negotiate returns the best format for an Accept header, or a 406. Examples for Objects:
//
//	application/yaml;q=0.5, application/json           JSON: higher weight
//	application/json;as=Table;v=v1;g=meta.k8s.io, */*  Table: first of equal weight
//	text/html                                          406
func (n *Names) Negotiate(header []byte, answer Answer) (Format, error) {
	switch string(header) {
	case "", TypeJSON, "*/*", TypeJSON + ", */*": // most clients
		return Format{}, nil
	}
	accept := string(header)
	best, bestQ, found, onlyStreams := Format{}, 0.0, false, false
	for accept != "" {
		var item string
		item, accept, _ = strings.Cut(accept, ",")
		f, q, ok := n.parseAcceptItem(item, answer)
		if answer == Events && f.Encoding == YAML {
			onlyStreams = onlyStreams || ok
			continue // YAML streams have no standard framing
		}
		if ok && q > bestQ {
			best, bestQ, found = f, q, true
		}
	}
	switch {
	case found:
		return best, nil
	case onlyStreams:
		return Format{}, notAcceptable(n.watchTypes)
	}
	return Format{}, n.NotAcceptable()
}

// OnlyJSON returns a 406 unless an Accept header accepts JSON.
func (n *Names) OnlyJSON(accept []byte) error {
	if len(accept) == 0 {
		return nil
	}
	for item := range strings.SplitSeq(string(accept), ",") {
		if f, _, ok := n.parseAcceptItem(item, Documents); ok && f.Encoding == JSON {
			return nil
		}
	}
	return notAcceptable([]string{TypeJSON})
}

// NotAcceptable returns a 406 that lists the available media types.
func (n *Names) NotAcceptable() error { return notAcceptable(n.BodyTypes) }

func notAcceptable(types []string) error {
	f := apierrors.NotAcceptable("406: Not Acceptable\n\nAvailable representations: " + strings.Join(types, ", "))
	f.Details = &meta.Details{}
	return f
}

// WithoutProtobuf removes the items that request whole objects in Protobuf from an Accept header.
// It reports whether any items remain.
func (n *Names) WithoutProtobuf(accept string) (rest []byte, ok bool) {
	var others []string
	for item := range strings.SplitSeq(accept, ",") {
		if f, _, ok := n.parseAcceptItem(item, Objects); !ok || f.Encoding != Protobuf || f.Shape != Whole {
			others = append(others, item)
		}
	}
	return []byte(strings.Join(others, ",")), len(others) > 0
}

type acceptParams struct {
	shape, group, version string
	q                     float64
}

func (n *Names) parseAcceptItem(item string, answer Answer) (Format, float64, bool) {
	mediaType, params, _ := strings.Cut(item, ";")
	f := Format{Encoding: n.encodingOfAccept(strings.TrimSpace(mediaType))}
	if f.Encoding == None {
		return f, 0, false
	}
	c, ok := parseAcceptParams(params)
	if !ok || c.q <= 0 {
		return f, 0, false
	}
	if c.shape == "" {
		return f, c.q, true
	}
	if answer == Documents || c.group != n.MetaGroup || c.version != "v1" && c.version != "v1beta1" {
		return f, 0, false
	}
	f.Version = c.version
	switch c.shape {
	case "Table":
		f.Shape = Table
	case "PartialObjectMetadata":
		f.Shape = Partial
	case "PartialObjectMetadataList":
		f.Shape = PartialList
	default:
		return f, 0, false
	}
	return f, c.q, f.Shape != Table || f.Encoding != Protobuf
}

// Quality returns the weight in the parameters of an Accept item. ok is false if they are
// malformed.
func Quality(params string) (q float64, ok bool) {
	c, ok := parseAcceptParams(params)
	return c.q, ok
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

func (n *Names) encodingOfAccept(s string) Encoding {
	switch {
	case s == TypeJSON, s == "*/*", s == "application/*":
		return JSON
	case s == TypeYAML:
		return YAML
	case s == n.ProtobufType:
		return Protobuf
	case s == TypeCBOR && n.cbor:
		return CBOR
	}
	if s == "" {
		return None
	}
	return n.EncodingOfContentType(strings.ToLower(s))
}

// EncodingOfContentType returns the encoding for a Content-Type. The default is JSON.
func (n *Names) EncodingOfContentType(contentType string) Encoding {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch s := strings.ToLower(strings.TrimSpace(mediaType)); {
	case s == TypeJSON, s == "":
		return JSON
	case s == TypeYAML:
		return YAML
	case s == n.ProtobufType:
		return Protobuf
	case s == TypeCBOR && n.cbor:
		return CBOR
	}
	return None
}
