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
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// definitionFiles applies the CustomResourceDefinitions in the files of --crds. Their kinds are
// served before the port opens.
type definitionFiles struct {
	base

	applied [sha256.Size]byte // hash of the definitions in effect
}

// definitionFilesManager is the field manager of applied definitions.
const definitionFilesManager = "troupe-crds"

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

// refresh applies the definitions if any of them has changed.
func (f *definitionFiles) refresh() (changed bool, err error) {
	all, err := manifest.Read(f.ctx, manifest.Options{Filename: f.config.API.Definitions, Recursive: true})
	if err != nil {
		return false, err
	}
	hash := sha256.New()
	for _, m := range all {
		hash.Write(document.JSON(m.Object))
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
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

// apply applies a definition and waits until its kinds are served. Its errors name the file, the
// line and the field.
func (f *definitionFiles) apply(m manifest.Manifest) error {
	fault := func(field, message string) error {
		if field != "" {
			message = field + ": " + message
		}
		return fmt.Errorf("%s:%d: CustomResourceDefinition %s: %s", m.Source, m.Locate(field).Line, m.Object.Name(), message)
	}
	k := f.storage.kinds.ByGVK(meta.ParseGVK(m.Object.String("apiVersion"), m.Object.String("kind")))
	if k == nil {
		return fault("apiVersion", fmt.Sprintf("Unsupported value: %q: supported values: %q", m.Object.String("apiVersion"), f.naming.Group("apiextensions")+"/v1"))
	}
	config, unknown, err := codec.DecodeConfig(k.Message(), document.JSON(m.Object))
	if err != nil {
		return fault("", err.Error())
	}
	for _, u := range codec.Refused(unknown) {
		return fault(u.Path, "unknown field")
	}
	result, err := f.policy.admitting(f.storage.store).Mutate(f.ctx, request.Mutation{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: m.Object.Name()}, FieldManager: definitionFilesManager,
		Change: request.Apply{Config: config, Force: true},
	})
	if err != nil {
		var status *meta.Status
		if !errors.As(err, &status) || status.Details == nil || len(status.Details.Causes) == 0 {
			return fault("", err.Error())
		}
		var errs []error
		for _, c := range status.Details.Causes {
			errs = append(errs, fault(c.Field, c.Message))
		}
		return errors.Join(errs...)
	}
	return f.checkServed(k, result.Object, fault)
}

// checkServed waits until the kinds of a definition are served. It returns an error if their names
// are in use.
func (f *definitionFiles) checkServed(k *schema.Kind, o *meta.Object, fault func(field, message string) error) error {
	f.serverControllers.definitions.Wait(f.ctx, o.Version)
	o, err := f.storage.store.Get(f.ctx, request.Get{Kind: k, Key: o.Key})
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
