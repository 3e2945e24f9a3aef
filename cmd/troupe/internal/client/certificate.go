package client

import (
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func certificate(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "certificate", Short: "Approve or deny certificate signing requests", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(
		decide(f, "approve", "Approved", "Denied", "Approve certificate signing requests"),
		decide(f, "deny", "Denied", "Approved", "Deny certificate signing requests"),
	)
	return c
}

// decide returns the command that sets a condition of certificate requests. It fails for requests
// with the other condition.
func decide(f *connectionFlags, verb, condition, other, short string) *cobra.Command {
	o := &targetFlags{}
	var print printer.Options
	force := false
	c := &cobra.Command{Use: verb + " NAME…", Short: short, ValidArgsFunction: f.completeNamesOf("certificatesigningrequests")}
	o.addFiles(c)
	addOutput(c, &print)
	c.Flags().BoolVar(&force, "force", false, "Update requests that were decided before.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		catalog, err := s.served()
		if err != nil {
			return err
		}
		r, err := catalog.Own("certificates", "certificatesigningrequests")
		if err != nil {
			return err
		}
		var selections []selection
		if o.IsSet() {
			if selections, _, err = s.fromFiles(o); err != nil {
				return err
			}
		} else if len(args) == 0 {
			return usageError("one or more CSRs must be specified as <name> or -f <file>")
		}
		for _, name := range args {
			selections = append(selections, selection{resource: r, names: []string{name}})
		}
		var faults []error
		for _, one := range selections {
			if one.resource != r {
				faults = append(faults, usageError("can only handle certificate signing requests"))
				continue
			}
			t, err := s.decideOne(one, verb, condition, other, force)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if err := s.printAs(print, object{resource: r, tree: t}, map[string]string{"approve": "approved", "deny": "denied"}[verb]); err != nil {
				return err
			}
		}
		return errors.Join(faults...)
	})
	return c
}

// decideOne sets the condition of one request, and retries on conflicts.
func (s *session) decideOne(one selection, verb, condition, other string, force bool) (tree.Tree, error) {
	path := one.resource.Path("", one.names[0])
	for attempts := 0; ; attempts++ {
		t, err := s.Get(s.ctx, path, nil)
		if err != nil {
			return nil, err
		}
		for _, c := range t.Object("status").Objects("conditions") {
			switch kind := c.String("type"); {
			case kind == condition && !force:
				return t, nil
			case kind == other:
				return nil, errors.New("certificate signing request " + one.names[0] + " is already " + map[string]string{"Approved": "approved", "Denied": "denied"}[other])
			}
		}
		status := t.EnsureObject("status")
		status["conditions"] = append(withoutCondition(status.List("conditions"), condition), tree.Tree{
			"type": condition, "status": "True", "reason": map[string]string{"approve": "TroupeApprove", "deny": "TroupeDeny"}[verb],
			"message": "This CSR was " + map[string]string{"approve": "approved", "deny": "denied"}[verb] + " by troupe certificate " + verb + ".", "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
		})
		answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPut, Path: path + "/approval", Body: document.JSON(t)})
		if rest.IsConflict(err) && attempts < 10 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return answer.Tree()
	}
}

func withoutCondition(all []any, kind string) (rest []any) {
	for _, one := range all {
		if c, ok := one.(tree.Tree); !ok || c.String("type") != kind {
			rest = append(rest, one)
		}
	}
	return rest
}
