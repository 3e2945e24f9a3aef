package client

import (
	"fmt"
	"net/http"
	"net/url"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

var patchTypes = map[string]string{"strategic": rest.StrategicPatch, "merge": rest.MergePatch, "json": rest.JSONPatch}

type patchOptions struct {
	targetFlags
	printer.Options
	DryRun                                            dryRun
	Patch, PatchFile, Type, Subresource, FieldManager string
}

func (o *patchOptions) body() (body []byte, mediaType string, err error) {
	mediaType, ok := patchTypes[o.Type]
	text := []byte(o.Patch)
	switch {
	case !ok:
		return nil, "", usageError(fmt.Sprintf("--type must be one of json, merge, strategic, not %q", o.Type))
	case (o.Patch == "") == (o.PatchFile == ""):
		return nil, "", usageError("must specify --patch or --patch-file containing the contents of the patch")
	case o.PatchFile != "":
		if text, err = os.ReadFile(o.PatchFile); err != nil {
			return nil, "", err
		}
	}
	if body, err = yaml.YAMLToJSON(text); err != nil {
		return nil, "", fmt.Errorf("unable to parse %q: %w", text, err)
	}
	return body, mediaType, nil
}

func (o *patchOptions) run(s *session, args []string) error {
	body, mediaType, err := o.body()
	if err != nil {
		return err
	}
	return s.eachObject(&o.targetFlags, args, func(one object) error {
		path := one.path()
		if o.Subresource != "" {
			path += "/" + url.PathEscape(o.Subresource)
		}
		changed, err := s.sendPatch(path, mediaType, body, o.FieldManager, o.DryRun)
		if err != nil {
			return err
		}
		words := "patched"
		if changed.tree.Object("metadata").String("resourceVersion") == one.tree.Object("metadata").String("resourceVersion") && o.DryRun == dryRunNone {
			words += " (no change)"
		}
		changed.resource = one.resource
		return s.printAs(o.Options, changed, words+o.DryRun.suffix())
	})
}

func (s *session) sendPatch(path, mediaType string, body []byte, manager string, dry dryRun) (object, error) {
	q := url.Values{"fieldManager": {manager}}
	if dry != dryRunNone { // a client-side dry run cannot compute the result
		q.Set("dryRun", "All")
	}
	t, err := s.tree(s.ctx, rest.Request{Method: http.MethodPatch, Path: path, Query: q, ContentType: mediaType, Body: body})
	return object{tree: t}, err
}

func (s *session) mergePatch(one object, patch any, dry dryRun) (object, error) {
	changed, err := s.sendPatch(one.path(), rest.MergePatch, document.JSON(patch), fieldManager, dry)
	changed.resource = one.resource
	return changed, err
}
