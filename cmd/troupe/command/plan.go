package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/plan"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// validateOptions are the flags of validate, which plan shares.
type validateOptions struct {
	plan.Options
	Output, Naming, KubernetesVersion, From string
}

func (o *validateOptions) prepare(c *cobra.Command) {
	o.Config = daemon.Default()
	o.Config.Services.ClusterIPRange = "10.0.0.0/8" // fits any input, and contains most addresses in use
	c.Flags().AddFlagSet(o.Config.FlagsNamed("webhook-service-resolver", "encryption-provider-config"))
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return unchecked(flagError(c, err)) })
}

func (o *validateOptions) run(c *cobra.Command, args []string) error {
	o.FieldManager = "troupe"
	return o.check(c, args)
}

type planOptions struct {
	validateOptions
	Live                bool
	Kubeconfig, Context string
}

func (o *planOptions) run(c *cobra.Command, args []string) error {
	o.Diff = true
	if o.Live || o.Kubeconfig != "" || o.Context != "" {
		if o.From != "" {
			return unchecked(errors.New("--from and --live (or --kubeconfig, --context) exclude each other"))
		}
		live, err := loadClient(c, o.Kubeconfig, o.Context)
		if err != nil {
			return unchecked(err)
		}
		o.Options.Live = live
		if !c.Flags().Changed("namespace") {
			o.Namespace = cmp.Or(live.Namespace, o.Namespace)
		}
	}
	return o.check(c, args)
}

func loadClient(c *cobra.Command, path, context string) (*rest.Client, error) {
	config, err := kubeconfig.Rules{Path: path, Fallback: defaultKubeconfig, Context: context}.Load()
	if err != nil {
		return nil, err
	}
	return rest.New(config, rest.Options{Agent: "troupe", Warnings: c.ErrOrStderr()}), nil
}

// unchecked returns the error for a command that could not check its input.
func unchecked(err error) error { return &client.Error{Text: "error: " + err.Error(), Code: 2} }

func (o *validateOptions) check(c *cobra.Command, args []string) error {
	o.Filename, o.Stdin = append(o.Filename, args...), c.InOrStdin()
	switch {
	case !o.IsSet():
		return unchecked(errors.New("give a file, a directory, or - for standard input; or a kustomization with -k"))
	case !slices.Contains(plan.Formats, o.Output):
		return unchecked(fmt.Errorf("--output %q: must be one of %s", o.Output, strings.Join(plan.Formats, ", ")))
	}
	if err := checkVersion(o.KubernetesVersion); err != nil {
		return unchecked(err)
	}
	o.Config.Ephemeral, o.Config.From, o.Config.Naming = true, o.From, o.Naming
	return withKubeconfig(o.Config, func(config daemon.Config) error {
		o.Config = config
		report, err := plan.Run(c.Context(), o.Options)
		if err == nil {
			err = report.Write(c.OutOrStdout(), o.Output, c.CommandPath(), daemon.Version)
		}
		if err != nil {
			return unchecked(err)
		}
		if report.Counts()["errors"] > 0 {
			return &client.Error{Code: 1}
		}
		return nil
	})
}

// checkVersion returns an error unless the Kubernetes version is that of this server.
func checkVersion(version string) error {
	minor := daemon.GitVersion() // such as v1.37.2+troupe.0.1.0
	minor = minor[1:strings.LastIndexByte(minor[:strings.IndexByte(minor, '+')], '.')]
	given := strings.TrimPrefix(version, "v")
	if version == "" || given == minor || strings.HasPrefix(given, minor+".") {
		return nil
	}
	return fmt.Errorf("--kubernetes-version %s: this program has the API of Kubernetes %s only", version, minor)
}
