package http

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// apply answers the object that a configuration has been applied to, or 201 with one that
// it has created.
func (s *Server) apply(x *requestContext) error {
	o, err := s.parseWriteOptions(applyOptions, x.query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	digest := func() meta.Digest { return applyDigest(x.kind, x.info.Subresource, o, body) }
	repeatable := !o.dryRun && !x.kind.DefinedAtRuntime && // the same text may mean something else by a new definition
		!s.opts.Admission.Applies(x.user, x.kind, x.info.Subresource, request.Update)
	if again := (request.Mutation{Kind: x.kind, Key: x.info.Key(x.kind), Subresource: x.info.Subresource, ApplyDigest: digest}); repeatable {
		if result, ok := s.opts.Store.NoOpApply(&again); ok {
			x.auditRepeatedApply(body)
			return s.writeObject(x, result.Object)
		}
	}
	config, faults, err := x.decodeConfig(body)
	if errors.Is(err, codec.ErrTooManyMessages) {
		return meta.NewTooLarge("%v", err)
	}
	if err != nil {
		return apierrors.BadRequest("error decoding YAML: " + err.Error())
	}
	x.auditRequestConfig(config)
	m := s.newMutation(x, request.Patch, o)
	m.PatchType, m.Object, m.Force = request.ApplyPatch, config, o.force
	if err := x.matchConfigToPath(&m, config); err != nil {
		return err
	}
	warnings, err := checkConfigFields(x.bodyKind, m.Key, config, faults, o.validation)
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
func (x *requestContext) decodeConfig(body []byte) (tree.Tree, []codec.FieldFault, error) {
	if sub := x.kind.Subresource(x.info.Subresource); sub != nil && sub.BodyKind != nil {
		return codec.DecodeYAML(x.bodyKind.Message, body)
	}
	return codec.DecodeConfig(x.bodyKind.Message, body)
}

// applyDigest is the digest of an apply: all that its outcome depends on beside the object.
func applyDigest(k *schema.Kind, subresource string, o writeOptions, body []byte) meta.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %t\n", k.APIVersion(), subresource, o.fieldManager, o.validation, o.force)
	h.Write(body)
	return meta.Digest(h.Sum(nil)[:len(meta.Digest{})])
}

// matchConfigToPath checks that a configuration is of the kind and of the object that the path
// names.
func (x *requestContext) matchConfigToPath(m *request.Mutation, config tree.Tree) error {
	kind, _ := config["kind"].(string)
	version, _ := config["apiVersion"].(string)
	if version == "" || kind == "" {
		return apierrors.BadRequest("invalid object type: " + typeName(version, kind))
	}
	metadata, _ := config["metadata"].(tree.Tree)
	placed := *m
	if name, _ := metadata["name"].(string); name != "" { // an object that is there has a name
		placed.Verb = request.Update
	}
	if err := x.matchBodyToPath(&placed, config); err != nil {
		return err
	}
	if version != x.bodyKind.APIVersion() {
		return apierrors.BadRequest(fmt.Sprintf("Incorrect version specified in apply patch. Specified patch version: %s, expected: %s", version, x.bodyKind.APIVersion()))
	}
	if kind != x.bodyKind.Kind {
		return checkKind(x.bodyKind, config)
	}
	if _, ok := metadata["managedFields"]; ok {
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
func checkConfigFields(k *schema.Kind, key meta.Key, config tree.Tree, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	untyped := func(text string) error {
		return apierrors.BadRequest(fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %s",
			key.Namespace, key.Name, typeName(k.APIVersion(), k.Kind), text))
	}
	var duplicates []codec.FieldFault
	for _, fault := range faults {
		if !fault.Duplicate {
			return nil, untyped("." + fault.Path + ": field not declared in schema")
		}
		duplicates = append(duplicates, fault)
	}
	if text := ownership.CheckItems(k.Message, config); text != "" {
		return nil, untyped(text)
	}
	if len(duplicates) > 0 && v == request.Strict {
		return nil, apierrors.BadRequest("error strict decoding YAML: " + duplicates[0].String())
	}
	return checkFieldFaults(k, duplicates, v)
}
