package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/plan"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// validateOptions are the flags of validate, and of plan without its own.
type validateOptions struct {
	manifest.Options
	Output, Namespace, Naming, KubernetesVersion, From string
	CRDs                                               []string
	AllowMissingWebhooks                               bool
	config                                             daemon.Config
}

func (o *validateOptions) prepare(c *cobra.Command) {
	o.config = daemon.Default()
	c.Flags().AddFlagSet(o.config.FlagsNamed("webhook-service-resolver", "encryption-provider-config"))
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return unchecked(flagError(c, err)) })
}

func (o *validateOptions) run(c *cobra.Command, args []string) error {
	return o.check(c, args, plan.Options{FieldManager: "troupe"})
}

type planOptions struct {
	validateOptions
	Live, ForceConflicts              bool
	Kubeconfig, Context, FieldManager string
}

func (o *planOptions) run(c *cobra.Command, args []string) error {
	p := plan.Options{Diff: true, FieldManager: o.FieldManager, ForceConflicts: o.ForceConflicts}
	if o.Live || o.Kubeconfig != "" || o.Context != "" {
		if o.From != "" {
			return unchecked(errors.New("--from and --live (or --kubeconfig, --context) exclude each other"))
		}
		config, err := kubeconfig.Rules{Path: o.Kubeconfig, Fallback: defaultKubeconfig, Context: o.Context}.Load()
		if err != nil {
			return unchecked(err)
		}
		p.Live = rest.New(config, rest.Options{Agent: "troupe", Warnings: c.ErrOrStderr()})
		if !c.Flags().Changed("namespace") && config.Namespace != "" {
			o.Namespace = config.Namespace
		}
	}
	return o.check(c, args, p)
}

// unchecked returns the error of a command that could not check its input.
func unchecked(err error) error { return &client.Error{Text: "error: " + err.Error(), Code: 2} }

func (o *validateOptions) check(c *cobra.Command, args []string, p plan.Options) error {
	o.Filename = append(o.Filename, args...)
	o.Stdin = c.InOrStdin()
	switch {
	case !o.IsSet():
		return unchecked(errors.New("give a file, a directory, or - for standard input; or a kustomization with -k"))
	case !slices.Contains(plan.Formats, o.Output):
		return unchecked(fmt.Errorf("--output %q: must be one of %s", o.Output, strings.Join(plan.Formats, ", ")))
	}
	if err := checkVersion(o.KubernetesVersion); err != nil {
		return unchecked(err)
	}
	p.Input, p.Definitions = o.Options, manifest.Options{Filename: o.CRDs, Recursive: true}
	p.Namespace, p.AllowMissingWebhooks = o.Namespace, o.AllowMissingWebhooks
	o.config.Ephemeral, o.config.From, o.config.Naming = true, o.From, o.Naming
	return withKubeconfig(o.config, func(config daemon.Config) error {
		p.Config = config
		report, err := plan.Run(c.Context(), p)
		if err != nil {
			return unchecked(err)
		}
		if err := report.Write(c.OutOrStdout(), o.Output, c.CommandPath(), daemon.Version); err != nil {
			return unchecked(err)
		}
		if report.Count(plan.Error) > 0 {
			return &client.Error{Code: 1}
		}
		return nil
	})
}

// checkVersion returns an error if the version of Kubernetes is not that of this server.
func checkVersion(version string) error {
	minor := daemon.GitVersion() // such as v1.37.2+troupe.0.1.0
	minor = minor[1:strings.LastIndexByte(minor[:strings.IndexByte(minor, '+')], '.')]
	given := strings.TrimPrefix(version, "v")
	if version == "" || given == minor || strings.HasPrefix(given, minor+".") {
		return nil
	}
	return fmt.Errorf("--kubernetes-version %s: this program has the API of Kubernetes %s only", version, minor)
}
