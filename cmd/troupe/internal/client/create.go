package client

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// createOptions are the flags of create and its subcommands.
type createOptions struct {
	targetFlags
	print             printer.Options
	dryRun            dryRun
	manager, validate string
}

func (o *createOptions) add(c *cobra.Command) {
	addDryRun(c, &o.dryRun)
	addOutput(c, &o.print)
	addValidate(c, &o.validate)
	c.Flags().StringVar(&o.manager, "field-manager", fieldManager, "Name of the field manager for the set fields.")
	c.Flags().BoolVar(&o.print.ManagedFields, "show-managed-fields", false, "Show managed fields.")
}

func (o *createOptions) query() (url.Values, error) {
	validation, err := fieldValidation(o.validate)
	if err != nil {
		return nil, err
	}
	q := url.Values{"fieldManager": {o.manager}, "fieldValidation": {validation}}
	if o.dryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	return q, nil
}

func create(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	c := &cobra.Command{
		Use:   "create -f FILE…",
		Short: "Create objects from files, or common objects from arguments",
		Example: `  troupe create -f app.yaml
  troupe create configmap settings --from-literal=mode=fast
  troupe create deployment web --image=example.com/web:1 --replicas=3
  troupe create token reporter`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no generator for %q: write the object to a file and create it with -f (troupe explain %[1]s lists its fields)", args[0])
			}
			return nil
		},
	}
	o.addFiles(c)
	o.add(c)
	c.RunE = f.runWith(o.stdinUse, func(s *session, _ []string) error {
		return s.eachManifest(&o.targetFlags, func(one selection) error { return s.createOne(o, one) })
	})
	for _, g := range generators() {
		c.AddCommand(g.command(f))
	}
	c.AddCommand(token(f))
	return c
}

func (s *session) createOne(o *createOptions, one selection) error {
	m := one.manifest
	t, err := s.post(o, one.resource, one.namespace, m.Object)
	if err != nil {
		return &sourced{"creating", m.Source, err}
	}
	return s.printAs(o.print, object{one.resource, t, m.Source}, "created"+o.dryRun.suffix())
}

// post creates an object and returns it as stored. With --dry-run=client it returns t.
func (s *session) post(o *createOptions, r *discovery.Resource, namespace string, t tree.Tree) (tree.Tree, error) {
	if o.dryRun == dryRunClient {
		return t, nil
	}
	q, err := o.query()
	if err != nil {
		return nil, err
	}
	answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPost, Path: r.Path(namespace, ""), Query: q, Body: document.JSON(t)})
	if err != nil {
		return nil, err
	}
	return answer.Tree()
}
