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

// A Decoder decodes bodies in every encoding that is served.
type Decoder struct {
	Names *negotiate.Names
	// MaxBytes is how large a body may be; one of CBOR, how large it may be as JSON.
	MaxBytes int
}

// Object decodes the body of a create or an update, and finds its unknown and duplicate fields.
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
	return object, faults, checkKind(k, object, body)
}

// Config decodes a configuration to apply, which is YAML or CBOR and in which nulls count.
func (d Decoder) Config(m *schema.Message, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	if encoding == negotiate.CBOR {
		return codec.DecodeCBORConfig(m, body, d.MaxBytes)
	}
	return codec.DecodeConfig(m, body)
}

// SubresourceConfig decodes a configuration of a sub-resource that has a body of another kind, such as a scale. Its
// nulls do not count.
func (d Decoder) SubresourceConfig(m *schema.Message, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	if encoding == negotiate.CBOR {
		return codec.DecodeCBOR(m, body, d.MaxBytes)
	}
	return codec.DecodeYAML(m, body)
}

// Options decodes the body of a request that consists of options, and finds its unknown and duplicate fields;
// those of a Protobuf body are not looked for.
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

// isNull tells a body that is null. As clients know it, that is an object without fields.
func isNull(body []byte) bool { return string(bytes.TrimSpace(body)) == "null" }

// optionsError is the answer to options that cannot be decoded.
func optionsError(encoding negotiate.Encoding, err error) error {
	switch {
	case errors.Is(err, codec.ErrTooLargeAsJSON):
		return meta.NewTooLarge("%v", err)
	case encoding == negotiate.CBOR:
		return apierrors.BadRequest("unable to determine group/version/kind: " + err.Error())
	}
	return apierrors.BadRequest("couldn't get version/kind; json parse error: " + err.Error())
}

// checkKind compares what the body says it is with what the path takes.
func checkKind(k *schema.Kind, object tree.Tree, body []byte) error {
	if k.IsCustom() {
		return checkCustomKind(k, object, body)
	}
	return CheckKind(k, object)
}

// formerVersions are those that older clients still send bodies of sub-resources in, whose form is the same.
var formerVersions = map[meta.GroupVersionKind]string{{Group: "policy", Version: "v1", Kind: "Eviction"}: "policy/v1beta1"}

// CheckKind compares what an object says it is with what is wanted. One that says nothing is what is wanted.
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

// checkCustomKind is checkKind for objects of custom kinds, which have to say what they are: another kind is a fault of
// the object there.
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
		name := object.Object("metadata").String("name")
		return meta.NewInvalid(meta.GroupKind{Group: k.Group, Kind: kind}, name, faults.List)
	}
	return nil
}

// shownOfBody is how much of a body without a kind is shown, in characters: enough of a small one to recognize it.
const shownOfBody = 1024

// summaryLength is how much of a body an error shows, in bytes.
const summaryLength = 30

// decodeError is the answer to a body that cannot be decoded.
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
