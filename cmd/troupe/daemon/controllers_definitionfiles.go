package daemon

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// definitionFiles applies the CustomResourceDefinitions in the files of --crds. Their kinds are
// served before the port opens.
type definitionFiles struct {
	base

	applied [sha256.Size]byte // hash of the definitions in effect
}

func (f *definitionFiles) Start() error {
	if len(f.config.API.Definitions) == 0 {
		return nil
	}
	if _, err := f.refresh(); err != nil {
		return fmt.Errorf("--crds: %w", err)
	}
	f.identity.reloader.Add("crds", f.refresh)
	return nil
}

// refresh applies all CRDs if any of them has changed.
func (f *definitionFiles) refresh() (changed bool, err error) {
	all, err := manifest.Read(f.ctx, manifest.Options{Filename: f.config.API.Definitions, Recursive: true})
	if err != nil {
		return false, err
	}
	var texts []byte
	for _, m := range all {
		texts = append(texts, document.JSON(m.Object)...)
	}
	sum := sha256.Sum256(texts)
	if sum == f.applied {
		return false, nil
	}
	var errs []error
	for _, m := range all {
		if m.Object.String("kind") == "CustomResourceDefinition" {
			errs = append(errs, f.apply(m))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return false, err
	}
	f.applied = sum
	return true, nil
}

// apply applies a CRD and blocks until its kinds are served or rejected. Errors name the file, the
// line and the field.
func (f *definitionFiles) apply(m manifest.Manifest) error {
	fault := func(field, message string) error {
		if field != "" {
			message = field + ": " + message
		}
		return fmt.Errorf("%s:%d: CustomResourceDefinition %s: %s", m.Source, m.Locate(field).Line, m.Object.Name(), message)
	}
	apiVersion := m.Object.String("apiVersion")
	k := f.storage.kinds.ByGVK(meta.ParseGVK(apiVersion, m.Object.String("kind")))
	if k == nil {
		return fault("apiVersion", fmt.Sprintf("Unsupported value: %q: supported values: %q", apiVersion, f.naming.Group("apiextensions")+"/v1"))
	}
	config, unknown, err := codec.DecodeConfig(k.Message(), document.JSON(m.Object))
	if err != nil {
		return fault("", err.Error())
	}
	for _, u := range codec.Refused(unknown) {
		return fault(u.Path, "unknown field")
	}
	key := meta.Key{GroupResource: k.Storage, Name: m.Object.Name()}
	result, err := f.policy.admitting(f.storage.store).Mutate(f.ctx, request.Mutation{
		Kind: k, Key: key, FieldManager: "troupe-crds", Change: request.Apply{Config: config, Force: true},
	})
	if err != nil {
		status, _ := errors.AsType[*meta.Status](err)
		if status == nil || status.Details == nil || len(status.Details.Causes) == 0 {
			return fault("", err.Error())
		}
		var errs []error
		for _, c := range status.Details.Causes {
			errs = append(errs, fault(c.Field, c.Message))
		}
		return errors.Join(errs...)
	}
	f.serverControllers.definitions.Wait(f.ctx, result.Object.Version)
	o, err := f.storage.store.Get(f.ctx, request.Get{Kind: k, Key: key})
	if err != nil {
		return err
	}
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return err
	}
	if c := tree.FindCondition(object.Object("status"), "NamesAccepted"); c.String("status") == "False" {
		return fault("spec.names", c.String("message"))
	}
	return nil
}
