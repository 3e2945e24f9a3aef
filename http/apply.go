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
	o, err := params.ParseWrite(s.names.MetaGroup, params.ApplyOptions, x.query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	digest := func() meta.Digest { return applyDigest(x.kind, x.info.Subresource, o, encoding, body) }
	repeatable := !o.DryRun && !x.kind.DefinedAtRuntime && // the same text may mean something else by a new definition
		!s.opts.Admission.AppliesToNoOp(x.user, x.kind, x.info.Subresource, x.info.Namespace)
	if again := (request.Mutation{Kind: x.kind, Key: x.info.Key(x.kind), Subresource: x.info.Subresource, ApplyDigest: digest}); repeatable {
		if result, ok := s.opts.Store.NoOpApply(&again); ok {
			s.auditRepeatedApply(x, encoding, body)
			return s.writeObject(x, result.Object)
		}
	}
	config, faults, err := s.decodeConfig(x, encoding, body)
	if errors.Is(err, codec.ErrTooManyMessages) || errors.Is(err, codec.ErrTooLargeAsJSON) {
		return meta.NewTooLarge("%v", err)
	}
	if err != nil {
		return apierrors.BadRequest("error decoding YAML: " + err.Error())
	}
	x.auditRequestConfig(config)
	m := s.newMutation(x, request.Patch, o)
	m.PatchType, m.Object, m.Force = request.ApplyPatch, config, o.Force
	if err := x.matchConfigToPath(&m, config); err != nil {
		return err
	}
	warnings, err := checkConfigFields(x.bodyKind, config, faults, o.Validation)
	if err != nil {
		return err
	}
	if repeatable && len(warnings) == 0 {
		m.ApplyDigest = digest
	}
	s.requireCreateRight(x, &m)
	return s.redactInvalid(x, s.mutate(x, m, warnings))
}

// decodeConfig reads a configuration. Nulls count in those of the object itself only, not where a
// sub-resource has a body of another kind, such as a scale.
func (s *Server) decodeConfig(x *requestContext, encoding negotiate.Encoding, body []byte) (tree.Tree, []codec.FieldFault, error) {
	sub := x.kind.Subresource(x.info.Subresource)
	return s.bodies().Config(x.bodyKind.Message(), encoding, body, sub == nil || sub.BodyKind == nil)
}

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
// names.
//
// The texts are those that clients of the API know, and some compare. The kind is compared after the version, so that
// a wrong version of the right kind is called that.
func (x *requestContext) matchConfigToPath(m *request.Mutation, config tree.Tree) error {
	kind, _ := config["kind"].(string)
	version, _ := config["apiVersion"].(string)
	if version == "" || kind == "" {
		return apierrors.BadRequest("invalid object type: " + typeName(version, kind))
	}
	metadata, _ := config["metadata"].(tree.Tree)
	placed, placesItself := *m, metadata.String("namespace") != ""
	if name, _ := metadata["name"].(string); name != "" { // an object that is there has a name
		placed.Verb = request.Update
	}
	m.Misplaced = x.matchBodyToPath(&placed, config)
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

// checkConfigFields refuses fields that cannot be owned. Duplicate fields are treated as in any body.
//
// An unknown field cannot be dropped with a warning, as in other bodies: the manager would not own what it has asked
// for, and would never learn why.
func checkConfigFields(k *schema.Kind, config tree.Tree, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	metadata := config.Object("metadata")
	untyped := func(text string) error {
		return apierrors.BadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %s",
			metadata.String("namespace"), metadata.String("name"), typeName(k.APIVersion(), k.Kind), text))
	}
	for _, fault := range codec.Refused(faults) {
		if !fault.Duplicate {
			return nil, untyped("." + fault.Path + ": field not declared in schema")
		}
	}
	if text := ownership.CheckItems(k.Message(), config); text != "" {
		return nil, untyped(text)
	}
	if refused := codec.Refused(faults); len(refused) > 0 && v == request.Strict {
		return nil, apierrors.BadRequest("error strict decoding YAML: " + refused[0].String())
	}
	return requestbody.CheckFields(k, faults, v)
}
