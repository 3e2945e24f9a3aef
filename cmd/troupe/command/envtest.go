package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/envtest"
)

const envtestHelp = `Suites that use controller-runtime's package envtest start kube-apiserver and etcd from the
folder that the variable KUBEBUILDER_ASSETS names. This makes such a folder, in which this program
stands in for both: it starts faster, collects garbage, and empties namespaces.

  export KUBEBUILDER_ASSETS=$(troupe envtest install)
  go test ./...

The path of the folder goes to standard output, what was put there to standard error.

kubectl becomes a link to the one on PATH or of --kubectl. Where there is none it is left out,
and --kubectl=build lets Go build it, which takes a few minutes. Only suites that call it need it.`

func envtestCommand() *cobra.Command {
	c := &cobra.Command{Use: "envtest", Short: "Stand in for the binaries of controller-runtime's envtest", Args: cobra.NoArgs}
	c.AddCommand(envtestInstall())
	return c
}

func envtestInstall() *cobra.Command {
	i := envtest.Installation{}
	c := &cobra.Command{Use: "install", Short: "Fill a folder for KUBEBUILDER_ASSETS", Long: envtestHelp, Args: cobra.NoArgs}
	c.Flags().StringVar(&i.Dir, "dir", "", "The folder (default troupe/envtest in the user's cache directory).")
	c.Flags().StringVar(&i.Kubectl, "kubectl", "", "The kubectl to link to, build or none (default the one on PATH).")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if i.Dir == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				return fmt.Errorf("name the folder with --dir: %w", err)
			}
			i.Dir = filepath.Join(cache, "troupe", "envtest")
		}
		if i.Dir, err = filepath.Abs(i.Dir); err != nil {
			return err
		}
		if i.Binary, err = os.Executable(); err != nil {
			return err
		}
		i.Log = c.ErrOrStderr()
		if err := envtest.Install(c.Context(), i); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), i.Dir)
		return nil
	}
	return c
}
