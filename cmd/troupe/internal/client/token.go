package client

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func token(f *connectionFlags) *cobra.Command {
	var audiences []string
	var life time.Duration
	var kind, name, uid string
	var print printer.Options
	c := &cobra.Command{
		Use:               "token SERVICEACCOUNT",
		Short:             "Request a service account token",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeNamesOf("serviceaccounts"),
	}
	c.Flags().StringArrayVar(&audiences, "audience", nil, "Audience of the token; the default is the server.")
	c.Flags().DurationVar(&life, "duration", 0, "Lifetime of the token; 0 lets the server choose.")
	c.Flags().StringVar(&kind, "bound-object-kind", "", "Kind of the object to bind the token to: Pod, Secret or Node.")
	c.Flags().StringVar(&name, "bound-object-name", "", "Name of the bound object.")
	c.Flags().StringVar(&uid, "bound-object-uid", "", "UID of the bound object.")
	addOutput(c, &print)
	c.RunE = f.run(func(s *session, args []string) error {
		spec := tree.Tree{"audiences": tree.ListOf(audiences)}
		if life > 0 {
			spec["expirationSeconds"] = int64(life / time.Second)
		}
		if (kind == "") != (name == "") {
			return usageError("--bound-object-kind and --bound-object-name must be set together")
		}
		if kind != "" {
			spec["boundObjectRef"] = tree.Tree{"kind": kind, "apiVersion": "v1", "name": name, "uid": uid}
		}
		catalog, err := s.served()
		if err != nil {
			return err
		}
		r, err := catalog.Own("", "serviceaccounts")
		if err != nil {
			return err
		}
		body := document.JSON(tree.Tree{"apiVersion": catalog.Naming.Group("authentication") + "/v1", "kind": "TokenRequest", "spec": spec})
		answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPost, Path: r.Path(s.Namespace, args[0]) + "/token", Body: body})
		if err != nil {
			return failedTo("create token", err)
		}
		t, err := answer.Tree()
		if err != nil {
			return err
		}
		if print.Output == "" {
			s.printf("%s\n", t.Object("status").String("token"))
			return nil
		}
		p, err := printer.New(print)
		if err != nil {
			return err
		}
		return p(s.out, t)
	})
	return c
}
