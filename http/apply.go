package http

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// apply handles a server-side apply. It responds with the object, and with 201 if it was created.
//
// Most applies change nothing. To recognize a repeated apply without decoding its body, apply looks
// up a digest of the request. This shortcut excludes dry runs, custom kinds, and applies that an
// admission plugin handles even if they change nothing.
func (s *Server) apply(x *requestContext, encoding negotiate.Encoding) error {
	o, err := params.ParseWrite(s.names.MetaGroup, params.ApplyOptions, x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	digest := func() meta.Digest { return applyDigest(x.kind, x.info.Subresource, o, encoding, body) }
	repeatable := !o.DryRun && !x.kind.IsCustom() && // a CRD may give the text another meaning
		!s.opts.Admission.AppliesToNoOp(x.attributes.User, x.kind, x.info.Subresource, x.info.Namespace)
	if repeatable {
		again := request.Mutation{Kind: x.kind, Key: x.info.Key(x.kind), Subresource: x.info.Subresource}
		if result, ok := s.opts.Store.NoOpApply(again, digest); ok {
			s.auditRepeatedApply(x, encoding, body)
			return s.writeObject(x, result.Object)
		}
	}
	config, faults, err := s.decodeConfig(x, encoding, body)
	if errors.Is(err, codec.ErrTooManyMessages) || errors.Is(err, codec.ErrTooLargeAsJSON) {
		return meta.NewTooLarge("%v", err)
	}
	if err != nil {
		return configError(x.bodyKind, encoding, body, faults, err)
	}
	x.auditRequestConfig(config)
	m := s.newMutation(x, nil, o)
	apply := request.Apply{Config: config, Force: o.Force}
	if err := x.matchConfigToPath(&m, &apply); err != nil {
		return err
	}
	undeclared := codec.UnknownPaths(codec.Refused(faults))
	if text := managedfields.CheckConfig(x.bodyKind.Message(), config, undeclared); text != "" {
		return structureError(x.bodyKind, encoding, body, undeclared, config, text)
	}
	warnings, err := checkDuplicates(x.bodyKind, faults, o.Validation)
	if err != nil {
		return err
	}
	if repeatable && len(warnings) == 0 {
		apply.Digest = digest
	}
	m.Change = apply
	s.requireCreateRight(x, &m)
	return s.redactInvalid(x, s.mutate(x, m, warnings))
}

func (s *Server) decodeConfig(x *requestContext, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	sub := x.kind.Subresource(x.info.Subresource)
	if sub != nil && sub.BodyKind != nil {
		return s.bodies.SubresourceConfig(x.bodyKind.Message(), encoding, body)
	}
	return s.bodies.Config(x.bodyKind.Message(), encoding, body)
}

// configError returns the error for a configuration that cannot be decoded. It lists all values of
// the wrong type.
func configError(k *schema.Kind, encoding negotiate.Encoding, body []byte, faults []codec.FieldFault, err error) error {
	if codec.IsTypeError(err) {
		undeclared := codec.UnknownPaths(codec.Refused(faults))
		if err := structureError(k, encoding, body, undeclared, nil, ""); err != nil {
			return err
		}
	}
	step := "decoding"
	if malformed := jsontext.SyntaxError(""); encoding == negotiate.YAML && errors.As(err, &malformed) {
		step = "encoding" // to JSON
	}
	text := err.Error()
	if path := codec.MalformedPath(err); path != "" && !strings.HasPrefix(text, path) {
		text = path + ": " + text
	}
	return apierrors.BadRequest("error " + step + " patch: " + text)
}

// structureError returns an error that lists all configuration fields that do not match the schema,
// or nil. It decodes body again without a schema, because the typed decoder drops unknown fields.
// For CBOR, the caller passes the decoded configuration in config and the errors in text.
//
// Unlike a create or update, an apply must not drop unknown fields with a warning, because the
// manager would not own them.
func structureError(k *schema.Kind, encoding negotiate.Encoding, body []byte, undeclared []string, config tree.Tree, text string) error {
	if encoding != negotiate.CBOR {
		if untyped, err := codec.DecodeUntyped(body); err == nil {
			if found := managedfields.CheckUntyped(k.Message(), untyped, undeclared); found != "" {
				config, text = untyped, found
			}
		}
	}
	if text == "" {
		return nil
	}
	metadata := config.Object("metadata")
	return apierrors.BadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %s",
		metadata.String("namespace"), metadata.String("name"), typeName(k.APIVersion(), k.Kind), meta.CutText(text, maxShownFaults)))
}

// maxShownFaults is the maximum total length of the field errors in a message, in bytes.
const maxShownFaults = 16 << 10

// applyDigest returns a digest of everything that determines the result of an apply, except the
// stored object. The store discards the digest when the object changes. With 128 bits of SHA-256,
// collisions are infeasible.
func applyDigest(k *schema.Kind, subresource string, o params.Write, encoding negotiate.Encoding, body []byte) meta.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %t %d\n", k.APIVersion(), subresource, o.FieldManager, o.Validation, o.Force, encoding)
	h.Write(body)
	return meta.Digest(h.Sum(nil)[:len(meta.Digest{})])
}

// matchConfigToPath checks that a configuration matches the kind and object in the path. It stores
// the error for a different object in apply.Misplaced instead of returning it. Messages match
// kube-apiserver's, because clients compare some of them. The version is checked before the kind,
// so that the error for a wrong version names the version.
func (x *requestContext) matchConfigToPath(m *request.Mutation, apply *request.Apply) error {
	config := apply.Config
	kind, _ := config["kind"].(string)
	version, _ := config["apiVersion"].(string)
	if version == "" || kind == "" {
		return apierrors.BadRequest("invalid object type: " + typeName(version, kind))
	}
	metadata, _ := config["metadata"].(tree.Tree)
	placesItself := metadata.String("namespace") != ""
	apply.Misplaced = x.matchBodyToPath(m, config)
	if !placesItself { // the stored last configuration must equal what the client sent
		delete(config["metadata"].(tree.Tree), "namespace")
	}
	if version != x.bodyKind.APIVersion() {
		return apierrors.BadRequest(fmt.Sprintf("Incorrect version specified in apply patch. Specified patch version: %s, expected: %s", version, x.bodyKind.APIVersion()))
	}
	if kind != x.bodyKind.Kind {
		return requestbody.CheckKind(x.bodyKind, config)
	}
	if metadata["managedFields"] != nil {
		return apierrors.BadRequest("metadata.managedFields must be nil")
	}
	return nil
}

func typeName(apiVersion, kind string) string {
	if !strings.Contains(apiVersion, "/") {
		apiVersion = "/" + apiVersion
	}
	return apiVersion + ", Kind=" + kind
}

// checkDuplicates handles duplicate fields. structureError has already rejected unknown fields.
func checkDuplicates(k *schema.Kind, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	if refused := codec.Refused(faults); len(refused) > 0 && v == request.Strict {
		return nil, apierrors.BadRequest("error strict decoding patch: " + refused[0].String())
	}
	return requestbody.CheckFields(k, faults, v)
}
