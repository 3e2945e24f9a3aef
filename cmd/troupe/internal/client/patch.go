package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

var patchTypes = map[string]string{"strategic": rest.StrategicPatch, "merge": rest.MergePatch, "json": rest.JSONPatch}

type patchOptions struct {
	targetFlags
	print                                   printer.Options
	dryRun                                  dryRun
	patch, file, kind, subresource, manager string
}

func patch(f *connectionFlags) *cobra.Command {
	o := &patchOptions{}
	c := &cobra.Command{
		Use:   "patch TYPE NAME | TYPE/NAME | -f FILE  -p PATCH",
		Short: "Change fields of objects",
		Example: `  troupe patch configmap settings --type=merge -p '{"data":{"mode":"fast"}}'
  troupe patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'`,
		ValidArgsFunction: f.completeObjects("patch"),
	}
	o.addFiles(c)
	addDryRun(c, &o.dryRun)
	addOutput(c, &o.print)
	flags := c.Flags()
	flags.StringVarP(&o.patch, "patch", "p", "", "Patch in JSON or YAML.")
	flags.StringVar(&o.file, "patch-file", "", "File with the patch.")
	flags.StringVar(&o.kind, "type", "strategic", "Patch type: strategic, merge or json.")
	flags.StringVar(&o.subresource, "subresource", "", "Subresource to patch: status or scale.")
	flags.StringVar(&o.manager, "field-manager", fieldManager, "Name of the field manager for the set fields.")
	must(c.RegisterFlagCompletionFunc("type", fixed("strategic", "merge", "json")))
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error { return s.patch(o, args) })
	return c
}

// body returns the patch in JSON, and its media type.
func (o *patchOptions) body() (body []byte, mediaType string, err error) {
	mediaType, ok := patchTypes[o.kind]
	text := []byte(o.patch)
	switch {
	case !ok:
		return nil, "", usageError(fmt.Sprintf("--type must be one of json, merge, strategic, not %q", o.kind))
	case (o.patch == "") == (o.file == ""):
		return nil, "", usageError("must specify --patch or --patch-file containing the contents of the patch")
	case o.file != "":
		if text, err = os.ReadFile(o.file); err != nil {
			return nil, "", err
		}
	}
	if body, err = yaml.YAMLToJSON(text); err != nil {
		return nil, "", fmt.Errorf("unable to parse %q: %w", text, err)
	}
	return body, mediaType, nil
}

func (s *session) patch(o *patchOptions, args []string) error {
	body, mediaType, err := o.body()
	if err != nil {
		return err
	}
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	objects, err := s.find(&o.targetFlags, selections)
	faults := unjoin(err)
	for _, one := range objects {
		if len(selections[0].names) == 0 {
			return usageError("resource(s) were provided, but no name was specified")
		}
		path := one.path()
		if o.subresource != "" {
			path += "/" + url.PathEscape(o.subresource)
		}
		changed, err := s.sendPatch(path, mediaType, body, o.manager, o.dryRun)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		words := "patched"
		if changed.tree.Object("metadata").String("resourceVersion") == one.tree.Object("metadata").String("resourceVersion") && o.dryRun == dryRunNone {
			words += " (no change)"
		}
		changed.resource = one.resource
		if err := s.printAs(o.print, changed, words+o.dryRun.suffix()); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// sendPatch patches an object and returns the result.
func (s *session) sendPatch(path, mediaType string, body []byte, manager string, dry dryRun) (object, error) {
	q := url.Values{"fieldManager": {manager}}
	if dry != dryRunNone { // a client-side dry run cannot compute the result
		q.Set("dryRun", "All")
	}
	answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPatch, Path: path, Query: q, ContentType: mediaType, Body: body})
	if err != nil {
		return object{}, err
	}
	t, err := answer.Tree()
	return object{tree: t}, err
}

// mergePatch sends a merge patch for an object.
func (s *session) mergePatch(one object, patch any, dry dryRun) (object, error) {
	changed, err := s.sendPatch(one.path(), rest.MergePatch, document.JSON(patch), fieldManager, dry)
	changed.resource = one.resource
	return changed, err
}
