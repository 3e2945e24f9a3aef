package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

const fieldManager = "troupe"

type applyOptions struct {
	createOptions
	ForceConflicts, Diff, ServerSide bool
}

func fieldValidation(validate string) (string, error) {
	switch validate {
	case "strict", "true", "":
		return "Strict", nil
	case "warn":
		return "Warn", nil
	case "ignore", "false":
		return "Ignore", nil
	}
	return "", usageError("invalid --validate " + validate + ": must be strict (or true), warn, or ignore (or false)")
}

func (o *applyOptions) run(s *session, _ []string) error {
	if !o.ServerSide {
		return usageError("only server-side apply is supported; remove --server-side=false")
	}
	manifests, unreadable := s.manifests(&o.targetFlags)
	if len(manifests) == 0 {
		return unreadable
	}
	definitions, others := splitDefinitions(manifests)
	do := func(one selection) error { return s.applyOne(o, one) }
	errs := []error{unreadable, s.each(definitions, do)}
	if o.DryRun == dryRunNone && len(definitions) > 0 && errs[1] == nil && len(others) > 0 {
		errs = append(errs, s.awaitDefinitions(definitions))
	}
	return errors.Join(append(errs, s.each(others, do))...)
}

const definitionKind = "CustomResourceDefinition"

// splitDefinitions separates CustomResourceDefinitions, which must be applied first, from other
// objects.
func splitDefinitions(manifests []manifest.Manifest) (definitions, others []manifest.Manifest) {
	for _, m := range manifests {
		if m.Object.String("kind") == definitionKind {
			definitions = append(definitions, m)
		} else {
			others = append(others, m)
		}
	}
	return definitions, others
}

// definitionTimeout is how long a CustomResourceDefinition may take until its kinds are served.
const definitionTimeout = 30 * time.Second

// awaitDefinitions blocks until the new kinds are established and appear in discovery.
func (s *session) awaitDefinitions(definitions []manifest.Manifest) error {
	ctx, cancel := context.WithTimeout(s.ctx, definitionTimeout)
	defer cancel()
	for i := range definitions {
		one, err := s.selectionOf(&definitions[i])
		if err != nil {
			return err
		}
		if err := s.until(ctx, one.resource, "", one.names[0], established); err != nil {
			return fmt.Errorf("waiting for %s to be established: %w", one, err)
		}
	}
	// kube-apiserver updates discovery slightly later than the Established condition.
	for {
		s.catalog = nil
		c, err := s.served()
		if err != nil || servesAll(c, definitions) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the new kinds in discovery: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// servesAll reports whether discovery contains all served versions of the
// CustomResourceDefinitions.
func servesAll(c *discovery.Catalog, definitions []manifest.Manifest) bool {
	for _, d := range definitions {
		spec := d.Object.Object("spec")
		for _, v := range spec.Objects("versions") {
			if v.Bool("served") && c.ForKind(spec.String("group")+"/"+v.String("name"), spec.Object("names").String("kind")) == nil {
				return false
			}
		}
	}
	return true
}

func established(definition tree.Tree) (bool, error) {
	for _, c := range definition.Object("status").Objects("conditions") {
		if c.String("type") == "Established" && c.String("status") == "True" {
			return true, nil
		}
	}
	return false, nil
}

// applyOne applies one object and prints the result. It first reads the previous state, because the
// response does not show whether anything has changed.
func (s *session) applyOne(o *applyOptions, one selection) error {
	m := one.manifest
	if len(one.names) == 0 {
		if generated := m.Object.Object("metadata").String("generateName"); generated != "" {
			return fmt.Errorf("from %s: cannot use generate name with apply", generated)
		}
		return fmt.Errorf("error when applying %q: a %s in it has no metadata.name", m.Source, m.Object.String("kind"))
	}
	path := one.resource.Path(one.namespace, one.names[0])
	var before tree.Tree
	switch answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodGet, Path: path}); {
	case err == nil:
		if before, err = answer.Tree(); err != nil {
			return err
		}
	case !rest.IsNotFound(err):
		return &sourced{"retrieving current configuration of", m.Source, err}
	}
	config := m.Object
	if metadata := config.Object("metadata"); one.namespace != "" && metadata.String("namespace") == "" {
		metadata["namespace"] = one.namespace // so that the server's errors mention it
	}
	after, words, err := s.sendApply(o, one, path, config, before)
	if err != nil {
		doing := "applying patch from"
		if before == nil {
			doing = "creating"
		}
		return s.explainApply(err, doing, m.Source)
	}
	if o.Diff {
		s.showDiff(difference.Unified(before, after, one.String()+" (now)", one.String()+" (applied)"))
	}
	return s.printAs(o.Options, object{one.resource, after, m.Source}, words+o.DryRun.suffix())
}

// sendApply applies config to an object. It returns the new state, and "created", "configured" or
// "unchanged" like kubectl.
func (s *session) sendApply(o *applyOptions, one selection, path string, config, before tree.Tree) (tree.Tree, string, error) {
	if o.DryRun == dryRunClient {
		if before == nil {
			return config, "created", nil
		}
		return config, "configured", nil
	}
	q, err := o.query()
	if err != nil {
		return nil, "", err
	}
	answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPatch, Path: path, Query: q, ContentType: rest.ApplyPatch, Body: document.JSON(config)})
	if err != nil {
		return nil, "", err
	}
	after, err := answer.Tree()
	if err != nil {
		return nil, "", err
	}
	words := "configured"
	switch {
	case before == nil:
		words = "created"
	case difference.Same(before, after):
		words = "unchanged"
	}
	return after, words, nil
}

func (o *applyOptions) query() (url.Values, error) {
	q, err := o.createOptions.query()
	q.Set("force", strconv.FormatBool(o.ForceConflicts))
	return q, err
}

func (s *session) explainApply(err error, doing, source string) error {
	if !rest.IsConflict(err) {
		return &sourced{doing, source, err}
	}
	conflict := strings.TrimPrefix(err.Error(), "Error from server (Conflict): ")
	return &Error{Text: fmt.Sprintf(`error: %s
Other managers own fields of %q. You can
* take them over with --force-conflicts;
* remove them from the file;
* give them their current values, to share ownership.`, conflict, source)}
}

func (s selection) String() string { return s.resource.TypeName() + "/" + s.names[0] }

func (s *session) showDiff(diff string) {
	if isTerminal(s.out) && os.Getenv("NO_COLOR") == "" {
		diff = difference.Colored(diff)
	}
	fmt.Fprint(s.out, diff)
}
