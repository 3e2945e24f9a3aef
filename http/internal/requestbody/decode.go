package requestbody

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Decoder decodes request bodies in any encoding.
type Decoder struct {
	Names *negotiate.Names
	// MaxBytes is the maximum size of a body. For CBOR, it limits the size after conversion to
	// JSON.
	MaxBytes int
}

// Object decodes the body of a create or update. It returns unknown and duplicate fields as faults.
func (d Decoder) Object(k *schema.Kind, encoding negotiate.Encoding, body []byte) (object tree.Tree, faults []codec.FieldFault, err error) {
	switch {
	case encoding == negotiate.JSON && isNull(body):
		object = tree.Tree{}
	case encoding == negotiate.JSON:
		object, faults, err = codec.DecodeJSON(k.Message(), body)
	case encoding == negotiate.YAML:
		object, faults, err = codec.DecodeYAML(k.Message(), body)
	case encoding == negotiate.Protobuf:
		if k.IsCustom() {
			return nil, nil, apierrors.UnsupportedMedia(d.Names.CustomBodyTypes)
		}
		object, faults, err = d.protobufObject(k, body)
	case encoding == negotiate.CBOR:
		object, faults, err = codec.DecodeCBOR(k.Message(), body, d.MaxBytes)
	default:
		return nil, nil, apierrors.UnsupportedMedia(d.Names.BodyTypes)
	}
	if err != nil {
		return nil, nil, decodeError(k, body, err)
	}
	if k.IsCustom() {
		return object, faults, checkCustomKind(k, object, body)
	}
	return object, faults, CheckKind(k, object)
}

// Config decodes an apply configuration (for server-side apply) in YAML or CBOR. It keeps explicit
// nulls.
func (d Decoder) Config(m *schema.Message, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	if encoding == negotiate.CBOR {
		return codec.DecodeCBORConfig(m, body, d.MaxBytes)
	}
	return codec.DecodeConfig(m, body)
}

// SubresourceConfig decodes an apply configuration for a subresource that has its own kind, such as
// Scale. It drops nulls.
func (d Decoder) SubresourceConfig(m *schema.Message, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	if encoding == negotiate.CBOR {
		return codec.DecodeCBOR(m, body, d.MaxBytes)
	}
	return codec.DecodeYAML(m, body)
}

// Options decodes a request body that contains options, such as DeleteOptions. It returns unknown
// and duplicate fields as faults, which the Protobuf decoder does not detect.
func (d Decoder) Options(m *schema.Message, encoding negotiate.Encoding, body []byte) (object tree.Tree, faults []codec.FieldFault, err error) {
	switch {
	case encoding == negotiate.JSON && isNull(body):
		object = tree.Tree{}
	case encoding == negotiate.JSON:
		object, faults, err = codec.DecodeJSON(m, body)
	case encoding == negotiate.YAML:
		object, faults, err = codec.DecodeYAML(m, body)
	case encoding == negotiate.Protobuf:
		object, err = d.protobufOptions(m, body)
	case encoding == negotiate.CBOR:
		object, faults, err = codec.DecodeCBOR(m, body, d.MaxBytes)
	default:
		return nil, nil, apierrors.UnsupportedMedia(d.Names.BodyTypes)
	}
	if err != nil {
		return nil, nil, optionsError(encoding, err)
	}
	return object, faults, nil
}

func isNull(body []byte) bool { return string(bytes.TrimSpace(body)) == "null" }

func optionsError(encoding negotiate.Encoding, err error) error {
	switch {
	case errors.Is(err, codec.ErrTooLargeAsJSON):
		return meta.NewTooLarge("%v", err)
	case encoding == negotiate.CBOR:
		return apierrors.BadRequest("unable to determine group/version/kind: " + err.Error())
	}
	return apierrors.BadRequest("couldn't get version/kind; json parse error: " + err.Error())
}

// formerVersions maps kinds to an older apiVersion with the same schema, which some clients still
// send to subresources.
var formerVersions = map[meta.GroupVersionKind]string{{Group: "policy", Version: "v1", Kind: "Eviction"}: "policy/v1beta1"}

// CheckKind returns an error if an object has a different kind or version. The object may omit
// both.
func CheckKind(k *schema.Kind, object tree.Tree) error {
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	if version != "" && version != k.APIVersion() && version != formerVersions[k.GroupVersionKind] {
		return otherVersion(k, version)
	}
	if kind != "" && kind != k.Kind {
		return apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: the kind in the data does not match the expected kind", kind, k.Version, k.Kind))
	}
	return nil
}

func otherVersion(k *schema.Kind, version string) error {
	return apierrors.BadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, k.APIVersion()))
}

// checkCustomKind is CheckKind for custom kinds. The object must include its kind, and a wrong kind
// is an invalid field.
func checkCustomKind(k *schema.Kind, object tree.Tree, body []byte) error {
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	switch {
	case kind == "":
		return decodeError(k, body, fmt.Errorf("Object 'Kind' is missing in '%.*s'", shownOfBody, bytes.ToValidUTF8(body, nil)))
	case version != k.APIVersion():
		return otherVersion(k, version)
	case kind != k.Kind:
		var faults schema.Faults
		faults.Invalid("kind", kind, "must be "+k.Kind)
		name := object.Name()
		return meta.NewInvalid(meta.GroupKind{Group: k.Group, Kind: kind}, name, faults.List)
	}
	return nil
}

// shownOfBody is the number of characters quoted from a body in the error for a missing kind.
const shownOfBody = 1024

// summaryLength is the number of bytes quoted from a body in other errors.
const summaryLength = 30

func decodeError(k *schema.Kind, body []byte, err error) error {
	if errors.Is(err, codec.ErrTooManyMessages) || errors.Is(err, codec.ErrTooLargeAsJSON) {
		return meta.NewTooLarge("%v", err)
	}
	if codec.IsTypeError(err) {
		return apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Kind, k.Version, k.Kind, err))
	}
	summary := "<empty>"
	if len(body) > 0 {
		shown := body[:min(len(body), summaryLength)]
		if summary = hex.EncodeToString(shown); body[0] == '{' {
			summary = string(bytes.ToValidUTF8(shown, nil))
		}
		if len(body) > summaryLength {
			summary += " ..."
		}
	}
	return apierrors.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", k.Kind, err, summary))
}
