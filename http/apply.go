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
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// apply answers the object that a configuration has been applied to, or 201 with one that
// it has created.
//
// Most applies are repeated by a client that keeps a cluster as its files say, and change nothing. Such a one is
// answered by the digest of its text, before the text is even decoded. That is only done where nothing else could
// make a difference: no dry run, no definition that may have changed, and no admission that must see a change of
// nothing.
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
	repeatable := !o.DryRun && !x.kind.IsCustom() && // the same text may mean something else by a new definition
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
	if text := ownership.CheckConfig(x.bodyKind.Message(), config, undeclared); text != "" {
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

// decodeConfig decodes the configuration of an object or a sub-resource.
func (s *Server) decodeConfig(x *requestContext, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	sub := x.kind.Subresource(x.info.Subresource)
	if sub != nil && sub.BodyKind != nil {
		return s.bodies().SubresourceConfig(x.bodyKind.Message(), encoding, body)
	}
	return s.bodies().Config(x.bodyKind.Message(), encoding, body)
}

// configError answers a configuration that cannot be decoded. If that is because of its structure, it
// names all faults of that.
func configError(k *schema.Kind, encoding negotiate.Encoding, body []byte, faults []codec.FieldFault, err error) error {
	if codec.IsTypeError(err) {
		undeclared := codec.UnknownPaths(codec.Refused(faults))
		if err := structureError(k, encoding, body, undeclared, nil, ""); err != nil {
			return err
		}
	}
	return apierrors.BadRequest("error decoding YAML: " + err.Error())
}

// structureError returns the error of a configuration that does not have the structure of its kind, or nil.
// It checks the body itself, since decoding drops what the kind does not know. config and text are what was
// found before; they stand for CBOR, which is not read again.
//
// An unknown field cannot be dropped with a warning, as in other bodies: the manager would not own what it has asked
// for, and would never learn why.
func structureError(k *schema.Kind, encoding negotiate.Encoding, body []byte, undeclared []string, config tree.Tree, text string) error {
	if encoding != negotiate.CBOR {
		if untyped, err := codec.DecodeUntyped(body); err == nil {
			if found := ownership.CheckUntyped(k.Message(), untyped, undeclared); found != "" {
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

// maxShownFaults bounds the faults of a configuration in an error, in bytes.
const maxShownFaults = 16 << 10

// applyDigest is the digest of an apply: all that its outcome depends on beside the object.
//
// The field manager, the strictness, force and the encoding are in it because each may turn the same text into another
// answer. The object is not: the store forgets a digest when the object changes. 128 bits of SHA-256 are kept, so that nobody can
// make two texts with one digest.
func applyDigest(k *schema.Kind, subresource string, o params.Write, encoding negotiate.Encoding, body []byte) meta.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %t %d\n", k.APIVersion(), subresource, o.FieldManager, o.Validation, o.Force, encoding)
	h.Write(body)
	return meta.Digest(h.Sum(nil)[:len(meta.Digest{})])
}

// matchConfigToPath checks that a configuration is of the kind and of the object that the path
// names. One of another object is not refused here: apply.Misplaced becomes the error.
//
// The texts are those that clients of the API know, and some compare. The kind is compared after the version, so that
// a wrong version of the right kind is called that.
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
	if !placesItself { // what is applied, and kept as the last configuration, is what the client has sent
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

// typeName is a type as errors of an apply show it: "apps/v1, Kind=Deployment", the core group empty.
func typeName(apiVersion, kind string) string {
	if !strings.Contains(apiVersion, "/") {
		apiVersion = "/" + apiVersion
	}
	return apiVersion + ", Kind=" + kind
}

// checkDuplicates treats duplicate fields as in any body; unknown ones have been refused.
func checkDuplicates(k *schema.Kind, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	if refused := codec.Refused(faults); len(refused) > 0 && v == request.Strict {
		return nil, apierrors.BadRequest("error strict decoding YAML: " + refused[0].String())
	}
	return requestbody.CheckFields(k, faults, v)
}
