package troupetest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

const fieldManager = "troupetest"

// Load applies the objects in YAML or JSON files: first CustomResourceDefinitions, then namespaces,
// then all others in order. Files may contain several documents and lists. Load reads a directory's
// *.yaml, *.yml and *.json files in name order, and ignores subdirectories. It updates existing
// objects.
//
// Objects without a namespace are created in namespace default. Object status is ignored.
func (s *Server) Load(paths ...string) {
	s.t.Helper()
	if err := s.load(paths); err != nil {
		s.t.Fatalf("troupetest: %v", err)
	}
}

func (s *Server) load(paths []string) error {
	all, err := manifest.Read(s.t.Context(), manifest.Options{Filename: paths})
	if err != nil || len(all) == 0 {
		return err
	}
	slices.SortStableFunc(all, func(a, b manifest.Manifest) int { return rank(a) - rank(b) })
	config, err := kubeconfig.Load(s.KubeconfigFile())
	if err != nil {
		return err
	}
	l := loader{Client: rest.New(config, rest.Options{Agent: fieldManager, Warnings: io.Discard}), t: s.t}
	defer l.Close()
	for _, m := range all {
		if err := l.apply(m); err != nil {
			return fmt.Errorf("%s: %s %q: %w", m.Source, m.Object.String("kind"), m.Object.Name(), err)
		}
	}
	return nil
}

// rank orders objects by dependency: CRDs first, then namespaces.
func rank(m manifest.Manifest) int {
	return -slices.Index([]string{"Namespace", "CustomResourceDefinition"}, m.Object.String("kind"))
}

type loader struct {
	*rest.Client
	t     testing.TB
	kinds *discovery.Catalog
}

func (l *loader) apply(m manifest.Manifest) (err error) {
	version, kind, metadata := m.Object.String("apiVersion"), m.Object.String("kind"), m.Object.Object("metadata")
	if metadata.String("name") == "" {
		return errors.New("has no metadata.name")
	}
	if l.kinds == nil || l.kinds.ForKind(version, kind) == nil {
		if l.kinds, err = discovery.Load(l.t.Context(), l.Client); err != nil {
			return err
		}
	}
	r := l.kinds.ForKind(version, kind)
	if r == nil {
		return fmt.Errorf("%s does not serve this kind", version)
	}
	_, err = l.Do(l.t.Context(), rest.Request{
		Method: http.MethodPatch, Path: r.Path(cmp.Or(metadata.String("namespace"), "default"), metadata.String("name")), ContentType: rest.ApplyPatch,
		Query: url.Values{"force": {"true"}, "fieldValidation": {"Strict"}, "fieldManager": {fieldManager}}, Body: document.JSON(m.Object),
	})
	return err
}
