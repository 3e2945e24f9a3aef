package http

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decodeObject reads the body of a create or an update. warnings are the texts about its
// unknown and duplicate fields, if the client wants to be warned.
func (s *Server) decodeObject(x *requestContext, v request.FieldValidation) (object tree.Tree, warnings []string, err error) {
	k := x.bodyKind
	body, err := s.readBody(x)
	if err != nil {
		return nil, nil, err
	}
	var faults []codec.FieldFault
	encoding := s.names.EncodingOfContentType(string(x.ctx.Request.Header.ContentType()), true)
	switch encoding {
	case negotiate.JSON:
		object, faults, err = codec.DecodeJSON(k.Message, body)
	case negotiate.YAML:
		object, faults, err = codec.DecodeYAML(k.Message, body)
	case negotiate.Protobuf:
		if k.JSONOnly {
			return nil, nil, apierrors.UnsupportedMedia(customBodyTypes)
		}
		object, faults, err = s.decodeProtobuf(k, body)
	default:
		return nil, nil, apierrors.UnsupportedMedia(s.names.BodyTypes)
	}
	if err != nil {
		return nil, nil, decodeError(k, body, err)
	}
	if err := checkKind(k, object); err != nil {
		return nil, nil, err
	}
	x.auditRequestObject(k.Message, object, encoding, body)
	warnings, err = checkFieldFaults(k, faults, v)
	return object, warnings, err
}

// checkKind compares what the body says it is with what the path takes. A body that says
// nothing is what the path takes.
func checkKind(k *schema.Kind, object tree.Tree) error {
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	if version != "" && version != k.APIVersion() {
		return apierrors.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, k.APIVersion()))
	}
	if kind != "" && kind != k.Kind {
		return apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: the kind in the data does not match the expected kind", kind, k.Version, k.Kind))
	}
	return nil
}

// summaryLength is how much of a body an error shows, in bytes.
const summaryLength = 30

// decodeError is the answer to a body that cannot be decoded.
func decodeError(k *schema.Kind, body []byte, err error) error {
	if errors.Is(err, codec.ErrTooManyMessages) {
		return meta.NewTooLarge("%v", err)
	}
	if codec.IsTypeError(err) {
		return apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Kind, k.Version, k.Kind, err))
	}
	summary := "<empty>"
	if len(body) > 0 {
		summary = hex.EncodeToString(body[:min(len(body), summaryLength)])
		if len(body) > summaryLength {
			summary += " ..."
		}
	}
	return apierrors.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", k.Kind, err, summary))
}

// checkFieldFaults makes warnings of field faults, or one error if they are not allowed.
func checkFieldFaults(k *schema.Kind, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	if len(faults) == 0 || v == request.Ignore {
		return nil, nil
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	if v == request.Strict {
		return nil, apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s",
			k.Kind, k.Version, k.Kind, strings.Join(texts, ", ")))
	}
	return splitYAMLFaults(texts), nil
}

// yamlFaultsPrefix begins the text of a YAML parser about several faults, a line each.
const yamlFaultsPrefix = "yaml: unmarshal errors:\n"

// splitYAMLFaults makes a text of its own of each fault that a YAML parser has reported in one text.
func splitYAMLFaults(texts []string) (single []string) {
	for _, text := range texts {
		lines, ok := strings.CutPrefix(text, yamlFaultsPrefix)
		if !ok {
			single = append(single, text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			single = append(single, strings.TrimSpace(line))
		}
	}
	return single
}
