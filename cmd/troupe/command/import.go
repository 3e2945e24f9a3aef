package command

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/recording"
)

type importOptions struct{ Kubeconfig, Context, DataDir, Secrets string }

func (o *importOptions) run(c *cobra.Command, _ []string) error {
	if !slices.Contains([]string{"redact", "copy", "omit"}, o.Secrets) {
		return fmt.Errorf("--secrets %q: must be redact, copy or omit", o.Secrets)
	}
	client, err := loadClient(c, o.Kubeconfig, o.Context)
	if err != nil {
		return err
	}
	defer client.Close()
	served, err := discovery.Load(c.Context(), client)
	if err != nil {
		return err
	}
	var objects [][]byte
	var omitted []string
	stored, err := daemon.CreateDirectory(o.DataDir, served.Naming, func() (_ [][]byte, err error) {
		objects, omitted, err = o.read(c.Context(), client, served)
		return objects, err
	})
	if err != nil {
		return err
	}
	for _, text := range omitted {
		fmt.Fprintln(c.ErrOrStderr(), "left out:", text)
	}
	fmt.Fprintf(c.ErrOrStderr(), "imported %d of %d objects of %s: troupe serve --naming %s --data-dir %s\n",
		stored, len(objects), client.Server(), served.Naming.Profile, o.DataDir)
	return nil
}

// read returns all objects, CustomResourceDefinitions first, and the omitted kinds.
func (o *importOptions) read(ctx context.Context, client *rest.Client, served *discovery.Catalog) (objects [][]byte, omitted []string, err error) {
	resources := served.Preferred()
	if i := slices.IndexFunc(resources, func(r *discovery.Resource) bool { return r.Kind == "CustomResourceDefinition" }); i > 0 {
		definitions := resources[i]
		resources = slices.Insert(slices.Delete(resources, i, i+1), 0, definitions)
	}
	read := map[string]bool{} // UIDs, because several groups may serve the same objects, such as events
	for _, r := range resources {
		isSecret := r.Group == "" && r.Kind == "Secret"
		switch {
		case !r.Has("list") || !r.Has("create"):
			continue
		case isSecret && o.Secrets == "omit":
			omitted = append(omitted, r.FullName()+": --secrets=omit")
			continue
		}
		all, err := r.Objects(ctx, client, "", nil, discovery.PageSize)
		switch {
		case rest.HasCode(err, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusServiceUnavailable):
			omitted = append(omitted, r.FullName()+": "+err.Error())
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("listing %s: %w", r.FullName(), err)
		}
		for _, one := range all {
			uid := one.Object("metadata").String("uid")
			if read[uid] {
				continue
			}
			read[uid] = true
			if isSecret && o.Secrets == "redact" {
				recording.Redact(one, served.Naming)
			}
			objects = append(objects, document.JSON(one))
		}
	}
	return objects, omitted, nil
}
